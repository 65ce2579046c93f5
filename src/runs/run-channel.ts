import type { SharedPace } from '../model/pace.js';
import { type Channel, openChannel } from '../service/transport/channel.js';
import { serviceOptions } from './service-options.js';
import { requireService, type Settings } from './settings.js';

export type { Channel } from '../service/transport/channel.js';

/**
 * What all runs of a process share: connections, the gate, the token. Throws `RunError('usage')` where address or token lack.
 */
export function runChannel(settings: Settings, shared: SharedPace, signal: AbortSignal): Channel {
  // A channel serves every company; each run names its own.
  const { company: _, ...options } = serviceOptions({ ...settings, ...requireService(settings) }, settings.company);
  return openChannel({ ...options, shared, signal });
}
