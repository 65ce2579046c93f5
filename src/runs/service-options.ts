import type { ServiceOptions } from '../service/service.js';
import type { TokenSource } from '../service/transport/token.js';
import { type Auth, requireService, type Settings } from './settings.js';

/** How the service is opened, as the settings say. Throws `RunError('usage')` where address or token lack. */
export function serviceOptions(settings: Settings, company: number): ServiceOptions {
  const { apiUrl, auth } = requireService(settings);
  return {
    baseUrl: apiUrl,
    company,
    token: tokenSource(auth),
    maxInFlight: settings.concurrency,
    timeouts: { requestMs: settings.timeoutMs },
    patienceMs: settings.patienceMs,
    ...(settings.maxRps === undefined ? {} : { maxRps: settings.maxRps }),
  };
}

function tokenSource(auth: Auth): TokenSource {
  return auth.kind === 'token' ? { kind: 'static', token: auth.token } : auth;
}
