import { resourceSpec } from '../resources/registry.js';
import type { ReferenceTarget, ResourceName } from '../resources/spec.js';
import { serviceName } from '../service/address.js';
import { openService } from '../service/service.js';
import { type Channel, serviceOptions } from './run/open-service.js';
import { requireService, type Settings } from './settings.js';
import { customColumns, readCatalogue, readNames } from './template/service.js';

/** What the service has of one kind, by the names that a cell may hold. */
export interface NamesFound {
  readonly names: readonly string[];
  /** Why there are none, or not all, in a sentence. */
  readonly lack?: string;
}

export interface NamesWanted {
  /** `asset-field`: its custom fields, as job files name them. */
  readonly of: ReferenceTarget | 'subcategory' | `${ResourceName}-field`;
  readonly settings: Settings;
  readonly channel: Channel;
  readonly signal: AbortSignal;
}

/** More than this would take minutes to read. */
const MOST_NAMES = 20_000;
const PATIENCE_MS = 5_000;

/** Asks the service for the names of one kind. A list that it has not, or does not give, is a `lack`. */
export async function findNames({ of, settings, channel, signal }: NamesWanted): Promise<NamesFound> {
  const { company, home } = settings;
  const service = openService({ ...serviceOptions(settings, company), patienceMs: PATIENCE_MS, channel, signal });
  const warnings: string[] = [];
  try {
    const known = { home, service: serviceName(requireService(settings).apiUrl, company) };
    const warn = (text: string) => void warnings.push(text.replace(', so its columns have no drop-down list', ''));
    const asking = { service, signal, warn, most: MOST_NAMES };
    const owner = /^(.+)-field$/.exec(of)?.[1];
    if (owner !== undefined) {
      const spec = resourceSpec(owner as ResourceName);
      const fields = customColumns(spec, await readCatalogue(spec, asking));
      return { names: fields.map(({ field }) => field), ...(warnings[0] && { lack: warnings[0] }) };
    }
    const target = of as ReferenceTarget | 'subcategory';
    const found = (await readNames([target === 'subcategory' ? 'category' : target], known, asking)).get(target);
    if (!found)
      return { names: [], lack: warnings[0] ?? `The service has no list of names (${of}) that could be read.` };
    if (found.source === 'known')
      return { names: found.names, lack: 'Only names that earlier runs learned: the service has no list of them.' };
    const { names, leftOut } = found;
    if (leftOut === 0) return { names };
    return {
      names,
      lack: `${leftOut} names are left out: several records bear them, or they would be read as something else. Write id:17 instead.`,
    };
  } finally {
    await service.close();
  }
}
