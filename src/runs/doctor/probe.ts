import { randomBytes } from 'node:crypto';
import { makeFolder, tryFolder } from '../../files/make-folder.js';
import { RunError } from '../../model/error.js';
import { serviceName } from '../../service/address.js';
import { saveBehaviour } from '../../service/behaviour.js';
import type { ProbedBehaviour, Service } from '../../service/port.js';
import { openService } from '../../service/service.js';
import { HOME } from '../layout.js';
import { serviceOptions } from '../open-service.js';
import { requireService, type Settings } from '../settings.js';
import { probeAsset } from './probe-asset.js';
import { probeContract } from './probe-contract.js';
import type { Finding, PartialProbe, ProbeContext } from './probe-steps.js';

/**
 * Asks the service itself what its interface leaves open, on scratch records (contract, section 7; interface 4.3, 4.4).
 * The service has no delete: what is created stays, and says of itself what it is.
 */

export type { Finding } from './probe-steps.js';

export interface ProbeResult {
  readonly behaviour: ProbedBehaviour;
  readonly findings: readonly Finding[];
  readonly leftBehind: readonly string[];
}

/**
 * Probes the service of the settings and keeps what was found out in the home folder, for this address and company.
 * The user has agreed to `PROBE_CONSENT`.
 */
export async function runProbe(
  settings: Settings,
  options: { signal?: AbortSignal; lagMs?: number } = {},
): Promise<ProbeResult> {
  const { company } = settings;
  // What is found out must have a place before records are made that cannot be removed.
  await tryFolder(settings.home, HOME);
  const service = openService({
    ...serviceOptions(settings, company),
    patienceMs: Math.min(settings.patienceMs, 60_000),
    ...(options.signal ? { signal: options.signal } : {}),
  });
  try {
    const result = await probeService(service, {
      company,
      ...(options.lagMs === undefined ? {} : { lagMs: options.lagMs }),
    });
    await makeFolder(settings.home, HOME);
    saveBehaviour(settings.home, serviceName(requireService(settings).apiUrl, company), result.behaviour);
    return result;
  } finally {
    await service.close();
  }
}

/** What the user is asked to agree to, before anything is written. */
export const PROBE_CONSENT = `The probe writes to the service:
  - one asset named "rowferry probe …", written about five times and read back each time
  - a second asset with the same serial number, to see what unique_field does; it stays only if the service takes it
  - one archived contract named "rowferry probe …", if there is a supplier it can be booked on
The service has no delete: these records stay. Their notes say what they are, and nothing else is touched.`;

/**
 * @throws RunError `failed` where the service cannot be reached, or refuses the scratch asset (nothing is left behind then).
 */
async function probeService(
  service: Service,
  options: { company: number; lagMs?: number; tag?: string; now?: () => Date },
): Promise<ProbeResult> {
  const context: ProbeContext = {
    service,
    company: options.company,
    tag: options.tag ?? randomBytes(4).toString('hex'),
    lagMs: options.lagMs ?? 30_000,
  };
  const asset = await probeAsset(context);
  const contract = await contractOrReason(context);
  return {
    behaviour: {
      probedAt: (options.now?.() ?? new Date()).toISOString(),
      putAccepts: [...new Set([...asset.putAccepts, ...contract.putAccepts])],
      filters: { ...asset.filters, ...contract.filters },
      ...(asset.omitted === undefined ? {} : { omitted: asset.omitted }),
      ...(asset.patch === undefined ? {} : { patch: asset.patch }),
      ...(asset.uniqueField === undefined ? {} : { uniqueField: asset.uniqueField }),
    },
    findings: [...asset.findings, ...contract.findings],
    leftBehind: [...asset.leftBehind, ...contract.leftBehind],
  };
}

/** What the asset taught is worth keeping even where the contract cannot be tried. */
async function contractOrReason(context: ProbeContext): Promise<PartialProbe> {
  try {
    return await probeContract(context);
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return {
      findings: [{ about: 'contract', text: `could not be tried: ${error.message}` }],
      putAccepts: [],
      filters: {},
      leftBehind: [],
    };
  }
}
