import { RunError } from '../../model/error.js';
import { readAddress } from '../../service/address.js';
import type { Json, Readable, Service } from '../../service/port.js';
import { openService } from '../../service/service.js';
import { openHttp } from '../../service/transport/http.js';
import { serviceOptions } from '../run/open-service.js';
import type { Settings } from '../settings.js';
import type { Check } from './here.js';

/** How long a check waits for the service; an import has more patience. */
const PATIENCE_MS = 5_000;
/** Differences that matter to people who compare logs; nothing here depends on the clocks agreeing. */
const SKEW_S = 60;

/** Look-ups an import may need, in the order of the interface, section 4.1. */
const LOOKUPS: readonly Readable[] = [
  'supplier',
  'custom-form-template',
  'custom-field-template',
  'asset-owner',
  'category',
  'usage-status',
];

/** Reachable, token accepted, company, look-ups; what depends on a step that failed is left out. */
export async function checkService(settings: Settings, signal?: AbortSignal): Promise<Check[]> {
  if (settings.apiUrl === undefined) return [];
  const reached = await reach(settings.apiUrl, settings);
  if (reached.some((check) => check.state === 'bad') || settings.auth === undefined) return reached;
  const service = openService({
    ...serviceOptions(settings, settings.company),
    patienceMs: Math.min(settings.patienceMs, PATIENCE_MS),
    ...(signal ? { signal } : {}),
  });
  try {
    const token = await checkToken(service);
    if (token.state === 'bad') return [...reached, token];
    return [...reached, token, await checkCompany(service, settings.company), await checkLookups(service)];
  } finally {
    await service.close();
  }
}

/** Any HTTP answer will do; the token is not sent. */
async function reach(apiUrl: string, settings: Settings): Promise<Check[]> {
  const name = 'service';
  const address = readAddress(apiUrl);
  const timeout = Math.min(settings.timeoutMs, PATIENCE_MS);
  const http = openHttp({
    origin: address.origin,
    connections: 1,
    connectMs: timeout,
    requestMs: timeout,
    maxAnswerBytes: 1024 * 1024,
  });
  try {
    const answer = await http.exchange({ method: 'GET', path: `${address.root}/company`, headers: [] });
    if (answer.kind === 'fault') {
      const advice = 'check ROWFERRY_API_URL, the network, proxy and firewall';
      return [{ name, state: 'bad', found: `${apiUrl} does not answer: ${answer.reason}`, advice }];
    }
    const checks: Check[] = [{ name, state: 'ok', found: `${apiUrl} answers` }];
    if (answer.status >= 300 && answer.status < 400) {
      return [
        {
          name,
          state: 'bad',
          found: `${apiUrl} redirects to ${answer.location ?? 'another address'}`,
          advice: 'set ROWFERRY_API_URL to the address that answers itself; redirects are never followed',
        },
      ];
    }
    if (answer.date !== undefined) checks.push(checkClock(answer.date));
    return checks;
  } finally {
    await http.close();
  }
}

export function checkClock(date: string, now: number = Date.now()): Check {
  const name = 'clock';
  const theirs = Date.parse(date);
  if (Number.isNaN(theirs))
    return { name, state: 'warn', found: `the service states no time that can be read: ${date}` };
  const seconds = Math.round((now - theirs) / 1000);
  if (Math.abs(seconds) <= SKEW_S) return { name, state: 'ok', found: 'agrees with the service' };
  const found = `is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the service`;
  return { name, state: 'warn', found, advice: 'let this machine keep its time by NTP' };
}

async function checkToken(service: Service): Promise<Check> {
  const name = 'token';
  try {
    await service.page('company', 1);
    return { name, state: 'ok', found: 'is accepted' };
  } catch (error) {
    return {
      name,
      state: 'bad',
      found: reasonOf(error),
      advice: 'check the token and its rights',
    };
  }
}

async function checkCompany(service: Service, company: number): Promise<Check> {
  const name = 'company';
  const advice = 'set ROWFERRY_COMPANY, or `company` in the job';
  try {
    const found = await service.get('company', company);
    if (found === undefined) {
      const { results } = await service.page('company', 1);
      const there = results.map(companyText).join(', ');
      return { name, state: 'bad', found: `there is no company ${company}; there are: ${there || 'none'}`, advice };
    }
    if (found['status'] === 'active') return { name, state: 'ok', found: companyText(found) };
    return { name, state: 'bad', found: `${companyText(found)} is ${String(found['status'])}, not active`, advice };
  } catch (error) {
    return { name, state: 'bad', found: reasonOf(error), advice };
  }
}

const companyText = (company: Json): string => `${String(company['id'])} "${String(company['name'])}"`;

async function checkLookups(service: Service): Promise<Check> {
  const name = 'look-ups';
  const read = await Promise.all(
    LOOKUPS.map(async (resource) => {
      try {
        return { text: `${(await service.page(resource, 1)).count} ${resource}`, fine: true };
      } catch (error) {
        return { text: `${resource}: ${reasonOf(error)}`, fine: false };
      }
    }),
  );
  const bad = read.filter((one) => !one.fine);
  if (bad.length === 0) return { name, state: 'ok', found: read.map((one) => one.text).join(', ') };
  return {
    name,
    state: 'bad',
    found: bad.map((one) => one.text).join('\n'),
    advice: 'the token needs the right to read these; names in spreadsheets cannot be resolved without',
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof RunError) return [error.message, ...error.details].join('\n');
  throw error;
}
