import { RunError } from '../../model/error.js';
import type { SharedPace } from '../../model/pace.js';
import { PAGE_SIZE } from '../../pipeline/match/filter.js';
import { type Clock, systemClock } from '../../service/clock.js';
import type { OnAway } from '../../service/pace/breaker.js';
import type { Json, Service } from '../../service/port.js';
import { openService, type ServiceOptions } from '../../service/service.js';
import { idOf } from '../../service/transport/answer.js';
import { type Channel, openChannel } from '../../service/transport/channel.js';
import { requireService, type Settings } from '../settings.js';

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

/** Asks the service of the settings something that is no run, and closes it. A shorter patience of the settings counts. */
export async function withService<T>(
  settings: Settings,
  {
    company = settings.company,
    patienceMs,
    channel,
    signal,
  }: {
    readonly company?: number;
    readonly patienceMs: number;
    readonly channel?: Channel | undefined;
    readonly signal?: AbortSignal | undefined;
  },
  work: (service: Service) => Promise<T>,
): Promise<T> {
  const service = openService({
    ...serviceOptions(settings, company),
    patienceMs: Math.min(settings.patienceMs, patienceMs),
    ...(channel && { channel }),
    ...(signal && { signal }),
  });
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}

export type { Channel } from '../../service/transport/channel.js';

/**
 * What all runs of a process share: connections, the gate, the token. Throws `RunError('usage')` where address or token lack.
 */
export function runChannel(settings: Settings, shared: SharedPace, signal: AbortSignal): Channel {
  // A channel serves every company; each run names its own.
  const { company: _, ...options } = serviceOptions({ ...settings, ...requireService(settings) }, settings.company);
  return openChannel({ ...options, shared, signal });
}

/** A long outage is spoken of this often. */
const EVERY_MS = 60_000;

/** Says that the service does not answer, now and then while that lasts, and once that it is back. */
export function tellAway(info: (text: string) => void, clock: Clock = systemClock): OnAway {
  let toldAt: number | undefined;
  return (news) => {
    if (!news) {
      if (toldAt !== undefined) info('The service answers again: the run goes on.');
      toldAt = undefined;
      return;
    }
    const now = clock.now();
    if (toldAt !== undefined && now - toldAt < EVERY_MS) return;
    toldAt = now;
    info(news);
  };
}

/** For whom a run works, as its first lines say. */
interface ActingFor {
  readonly company: number;
  readonly address: string;
  /** `Importing into`, `Exporting from` */
  readonly verb: string;
  /** An archived company is worth a warning only: nothing is written, or it was said that this is meant. */
  readonly mayBeArchived: boolean;
}

interface Telling {
  warn(text: string): void;
  info(text: string): void;
}

/**
 * Says whose data is about to be read or changed, and returns the company's name where it could be read.
 * Throws a `RunError` where the company is not there, or is archived and may not be.
 */
export async function nameCompany(service: Service, about: ActingFor, tell: Telling): Promise<string | undefined> {
  const { company, address, verb } = about;
  let record: Json | undefined;
  try {
    record = (await service.get('company', company)) ?? (await inList(service, company));
  } catch (error) {
    // A token may be allowed to work for a company without being allowed to look at it.
    if (!(error instanceof RunError) || error.status !== 403) throw error;
    tell.warn(
      `The name of company ${company} could not be checked, nor whether it is archived: the token may not read it (403). Make sure that ${company} is the company meant.`,
    );
    tell.info(`${verb} company ${company} at ${address}`);
    return undefined;
  }
  if (!record) {
    throw new RunError(
      'failed',
      `There is no company ${company} at ${address}, or the token may not see it. Nothing was sent. Check --company, the job's \`company\` and ROWFERRY_COMPANY.`,
    );
  }
  const name = String(record['name'] ?? '');
  if (record['status'] === 'archived') {
    if (!about.mayBeArchived) {
      throw new RunError(
        'failed',
        `The company ${company} (${name}) is archived. Nothing was sent. If its data is really to be changed, begin anew with --force.`,
      );
    }
    tell.warn(`The company ${company} (${name}) is archived.`);
  }
  // Without quotation marks: what stands in them is taken for a cell, and left out of logs.
  tell.info(`${verb} ${name} (company ${company}) at ${address}`);
  return name;
}

/** The name of the settings' company, asked through a channel that is open; undefined where it cannot be read now. */
export async function companyName(
  settings: Settings,
  channel: Channel,
  patienceMs: number,
): Promise<string | undefined> {
  const { company } = settings;
  const record = await withService(settings, { channel, patienceMs }, async (service) => {
    return (await service.get('company', company)) ?? (await inList(service, company));
  }).catch((error: unknown) => {
    if (!(error instanceof RunError)) throw error;
    return undefined;
  });
  return typeof record?.['name'] === 'string' ? record['name'] : undefined;
}

/** Not every service shows a company by its id. Undefined also where there is no list to look into. */
async function inList(service: Service, company: number): Promise<Json | undefined> {
  try {
    for (let page = 1; ; page++) {
      const { count, results } = await service.page('company', page);
      const found = results.find((one) => idOf(one) === company);
      if (found || results.length === 0 || page * PAGE_SIZE >= count) return found;
    }
  } catch (error) {
    if (error instanceof RunError && (error.status === 403 || error.status === 404)) return undefined;
    throw error;
  }
}
