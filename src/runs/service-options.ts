import type { ServiceOptions } from '../service/service.js';
import { requireService, type Settings } from './settings.js';

/** How the service is opened, as the settings say. Throws `RunError('usage')` where address or token lack. */
export function serviceOptions(settings: Settings, company: number): ServiceOptions {
  const { apiUrl, auth } = requireService(settings);
  return {
    baseUrl: apiUrl,
    company,
    token: auth,
    maxInFlight: settings.concurrency,
    timeouts: { requestMs: settings.timeoutMs },
    patienceMs: settings.patienceMs,
    ...(settings.maxRps === undefined ? {} : { maxRps: settings.maxRps }),
  };
}
