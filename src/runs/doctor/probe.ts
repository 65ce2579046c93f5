import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { makeFolder, probeFolder } from '../../files/make-folder.js';
import { RunError, runFailure } from '../../model/error.js';
import { PAGE_SIZE } from '../../pipeline/match/filter.js';
import { serviceName } from '../../service/address.js';
import { saveBehaviour } from '../../service/known-ids.js';
import type { Json, ProbedBehaviour, Service, WriteAnswer } from '../../service/port.js';
import { HOME } from '../run/layout.js';
import { withService } from '../run/open-service.js';
import { requireService, type Settings } from '../settings.js';

/**
 * Asks the service itself what its interface leaves open, on scratch records (contract, section 7; interface 4.3, 4.4).
 * The service has no delete: what is created stays, and says of itself what it is.
 */

/** One thing that was found out, in words. */
export interface Finding {
  readonly about: string;
  readonly text: string;
}

/** What the user is asked to agree to, before anything is written. */
export const PROBE_CONSENT = `The probe writes to the service:
  - one asset named "rowferry probe …", written about five times and read back each time
  - a second asset with the same serial number, to see what unique_field does; it stays only if the service takes it
  - one archived contract named "rowferry probe …", if there is a supplier it can be booked on
The service has no delete: these records stay. Their notes say what they are, and nothing else is touched.`;

/**
 * Probes the service of the settings and keeps what was found out in the home folder, for this address and company.
 * The user has agreed to `PROBE_CONSENT`. `lagMs`: how long to wait until a write shows in lists.
 *
 * @throws RunError `failed` where the service cannot be reached, or refuses the scratch asset (nothing is left behind then).
 */
export async function runProbe(
  settings: Settings,
  { signal, lagMs = 30_000 }: { signal?: AbortSignal; lagMs?: number } = {},
) {
  const { company } = settings;
  // What is found out must have a place before records are made that cannot be removed.
  await probeFolder(settings.home, HOME);
  return withService(settings, { patienceMs: 60_000, signal }, async (service) => {
    const probe = new Probe(service, company, lagMs);
    await probe.probeAsset();
    await probe.probeContract();
    const { learned, findings, leftBehind } = probe;
    const behaviour = { probedAt: new Date().toISOString(), ...learned };
    await makeFolder(settings.home, HOME);
    saveBehaviour(settings.home, serviceName(requireService(settings).apiUrl, company), behaviour);
    return { behaviour, findings, leftBehind };
  });
}

/** A scratch record, and how it is tried out. */
interface Scratch {
  readonly resource: 'asset' | 'contract';
  /** Known once it was created. */
  id: number;
  /** The update body, whole as the interface has it. */
  readonly listed: Json;
  /** The text field in which each write leaves a mark, so that it is known what is read back. */
  readonly mark: string;
  /** The list's parameters → fields of the update body; the first one finds the record. */
  readonly filters: Readonly<Record<string, string>>;
  readonly unlisted: readonly Unlisted[];
}

/** A field that the update body of the interface does not list. */
interface Unlisted {
  readonly name: string;
  value(version: 1 | 2): string;
  /** Its part of a body. */
  body(value: string): Json;
  /** What a read shows of it. */
  readValue(record: Json): unknown;
}

const unlistedField = (name: string, readName = name): Unlisted => ({
  name,
  value: (version) => (name.endsWith('_date') ? `2020-01-0${version}` : `Probe ${name} ${version}`),
  body: (value) => ({ [name]: value }),
  readValue: (record) => record[readName],
});

/** Numeric ISO code; any country will do, the field is required. */
const COUNTRY = 840;

type FilterMatch = 'exact' | 'ignores_case' | 'contains' | 'ignored';

const FILTER_MATCH_TEXTS: Readonly<Record<FilterMatch, string>> = {
  exact: 'finds the exact value only',
  ignores_case: 'ignores upper and lower case',
  contains: 'finds parts of the value',
  ignored: 'is ignored: the whole list comes back',
};

type Learned = { -readonly [K in keyof Omit<ProbedBehaviour, 'probedAt'>]: ProbedBehaviour[K] };

class Probe {
  readonly learned: Learned & { putAccepts: string[]; filters: Record<string, FilterMatch> } = {
    putAccepts: [],
    filters: {},
  };
  readonly findings: Finding[] = [];
  /** The scratch records, as a person finds them. */
  readonly leftBehind: string[] = [];
  /** Part of every scratch name, so that nothing else is found by it. */
  private readonly tag = randomBytes(4).toString('hex');

  constructor(
    private readonly service: Service,
    private readonly company: number,
    private readonly lagMs: number,
  ) {}

  async probeAsset(): Promise<void> {
    const { company, tag } = this;
    const category = (await this.service.page('category', 1)).results[0];
    const subcategories = category?.['subcategories'];
    const subcategory: unknown = Array.isArray(subcategories) ? subcategories[0] : undefined;
    const scratch: Scratch = {
      resource: 'asset',
      id: 0,
      listed: {
        company,
        name: `rowferry probe ${tag}`,
        serial_number: `RF-Probe-${tag}`,
        asset_tag: `RF-Tag-${tag}`,
        manufacturer: `rowferry Maker ${tag}`,
        ...(category ? { category: { id: category['id'], ...(subcategory ? { subcategory } : {}) } } : {}),
      },
      mark: 'asset_notes',
      filters: {
        serial_number: 'serial_number',
        name: 'name',
        asset_tag: 'asset_tag',
        manufacturer_name: 'manufacturer',
      },
      // Interface 4.4.
      unlisted: [
        unlistedField('area'),
        unlistedField('state_province'),
        unlistedField('business_entity_type', 'business_entity'),
      ],
    };
    await this.create(scratch, { product_description: 'probe' }, '');
    try {
      await this.probeFilters(scratch);
      await this.probeUnlisted(scratch, { product_description: 'probe' });
      await this.probeOmitted(scratch);
      await this.probePatch(scratch);
      await this.probeUniqueField(scratch);
    } catch (error) {
      if (!(error instanceof RunError)) throw error;
      const behind = this.leftBehind.map((record) => `${record} was created and stays`);
      throw new RunError(error.kind, error.message, [...error.details, ...behind], { cause: error });
    }
  }

  /** What the asset taught is worth keeping even where the contract cannot be tried. */
  async probeContract(): Promise<void> {
    try {
      await this.createContract();
    } catch (error) {
      if (!(error instanceof RunError)) throw error;
      this.addFinding('contract', `could not be tried: ${error.message}`);
    }
  }

  private async createContract(): Promise<void> {
    const { company, tag } = this;
    const supplier = (await this.service.page('supplier', 1)).results[0];
    if (typeof supplier?.['id'] !== 'number') {
      this.addFinding('contract', 'not tried: there is no supplier that a scratch contract could be booked on');
      return;
    }
    const form = await this.contractForm();
    const scratch: Scratch = {
      resource: 'contract',
      id: 0,
      listed: {
        company,
        name: `rowferry probe ${tag}`,
        number: `RF-Probe-${tag}`,
        supplier: supplier['id'],
        country: COUNTRY,
        status: 'archived',
        contract_start_date: '2020-01-01',
        contract_end_date: '2020-12-31',
        total_contract_spend_value: 0,
      },
      mark: 'description',
      filters: { contract_no: 'number', name: 'name' },
      // Interface 4.3.
      unlisted: [
        unlistedField('approver'),
        unlistedField('signer'),
        unlistedField('signed_date'),
        ...(form ? [form] : []),
      ],
    };
    await this.create(scratch, { contract_type: 'buy_side' }, ' (archived)');
    await this.probeFilters(scratch);
    await this.probeUnlisted(scratch);
  }

  /** The columns of a custom form, tried as a whole. */
  private async contractForm(): Promise<Unlisted | undefined> {
    for (const { id, type, is_active, fields } of (await this.service.page('custom-form-template', 1)).results) {
      if (type !== 'contract' || is_active !== true || !Array.isArray(fields)) continue;
      const text = (fields as Json[]).find((field) => field['data_type'] === 'text' && field['is_active'] === true);
      if (!text) continue;
      return {
        name: 'form',
        value: (version) => `probe ${version}`,
        body: (value) => ({ form_template: [{ id, custom_form_data: { [String(text['name'])]: value } }] }),
        readValue: (record) => /probe \d/.exec(JSON.stringify(record['custom_form'] ?? null))?.[0],
      };
    }
    return undefined;
  }

  private addFinding(about: string, text: string): void {
    this.findings.push({ about, text });
  }

  private async create(scratch: Scratch, more: Json, state: string): Promise<void> {
    const { resource, listed, mark, filters, unlisted } = scratch;
    const unlistedParts = Object.assign({}, ...unlisted.map((one) => one.body(one.value(1)))) as Json;
    const body = { ...listed, ...more, ...unlistedParts, [mark]: scratchNote('create') };
    const answer = await this.service.write({ op: 'create', resource, body });
    if (answer.kind !== 'done') {
      const behind =
        answer.kind === 'open' ? `It may be there all the same, as "${listed['name']}".` : 'Nothing was left behind.';
      throw runFailure(`The scratch ${resource} was not accepted: ${answerText(answer)}. ${behind}`);
    }
    const [parameter = '', field = ''] = Object.entries(filters)[0] ?? [];
    const seen = await this.retryUntil(async () => (await this.findBy(scratch, parameter, field))[0]);
    const id = answer.id ?? seen?.['id'];
    if (typeof id !== 'number') {
      throw runFailure(
        `The scratch ${resource} "${listed['name']}" was accepted, but a look-up by its ${field} ${listed[field]} did not find it within ${Math.round(this.lagMs / 1000)} s. It stays in the service.`,
      );
    }
    scratch.id = id;
    this.leftBehind.push(`${resource} ${id} "${listed['name']}"${state}`);
  }

  /** How the filters of a list match, each asked with a value of the record, with variations of it, and with nonsense. */
  private async probeFilters({ resource, id, listed, filters }: Scratch): Promise<void> {
    for (const [parameter, field] of Object.entries(filters)) {
      const value = String(listed[field]);
      const finds = async (text: string) => {
        const page = await this.service.page(resource, 1, { [parameter]: text });
        return { any: page.count > 0, ours: page.results.some((record) => record['id'] === id) };
      };
      let found: FilterMatch | undefined;
      if ((await finds(`rowferry-nobody-${this.tag}`)).any) found = 'ignored';
      else if ((await finds(value)).ours) {
        if ((await finds(value.slice(1, -1))).ours) found = 'contains';
        else found = (await finds(swapCase(value))).ours ? 'ignores_case' : 'exact';
      }
      if (found) this.learned.filters[`${resource}.${parameter}`] = found;
      const words = found ? FILTER_MATCH_TEXTS[found] : 'does not find a record by its own value: it is not used';
      this.addFinding(`filter ${parameter} of ${resource}s`, words);
    }
  }

  /** Sends the fields that the update body does not list, with new values, and looks what became of them. */
  private async probeUnlisted(scratch: Scratch, more: Json = {}): Promise<void> {
    const before = await this.retryUntil(() => this.service.get(scratch.resource, scratch.id));
    // Of what reads do not show nothing can be told.
    const testable = scratch.unlisted.filter((one) => before && !isBlank(one.readValue(before)));
    const put = (fields: readonly Unlisted[]) => {
      const parts = Object.assign({}, ...fields.map((one) => one.body(one.value(2)))) as Json;
      return this.write(scratch, { ...more, ...parts }, `PUT with ${fields.map(({ name }) => name).join(', ')}`);
    };
    const bodyResult = await put(testable);
    for (const one of testable) {
      const after = typeof bodyResult === 'string' ? await put([one]) : bodyResult;
      const about = `PUT with ${one.name}`;
      if (typeof after === 'string') this.addFinding(about, `is refused: ${after}`);
      else if (!after) this.addFinding(about, 'could not be read back: it stays at risk');
      else if (isBlank(one.readValue(after))) this.addFinding(about, 'the field is emptied although it is sent');
      else {
        this.learned.putAccepts.push(one.name);
        const isWritten = one.readValue(after) === one.value(2);
        this.addFinding(about, isWritten ? 'the field is written' : 'the field keeps its old value whatever is sent');
      }
    }
  }

  private async probeOmitted(scratch: Scratch): Promise<void> {
    const about = 'omitted fields';
    const after = await this.write(scratch, {}, 'PUT that leaves fields out');
    if (typeof after === 'string') return this.addFinding(about, `a PUT that leaves fields out is refused: ${after}`);
    if (!after) return this.addFinding(about, 'could not be read back');
    this.learned.omitted = isBlank(after['product_description']) ? 'nulled' : 'kept';
    this.addFinding(
      about,
      this.learned.omitted === 'nulled' ? 'a PUT empties what it leaves out' : 'a PUT keeps what it leaves out',
    );
  }

  private async probePatch(scratch: Scratch): Promise<void> {
    const mark = scratchNote('PATCH of the notes alone');
    const body = { company: this.company, [scratch.mark]: mark };
    try {
      const answer = await this.update(scratch, 'PATCH', body);
      if (answer.kind !== 'done') {
        if (answer.kind === 'refused') this.learned.patch = false;
        return this.addFinding('PATCH', `does not work: ${answerText(answer)}`);
      }
    } catch (error) {
      if (!(error instanceof RunError)) throw error;
      this.learned.patch = false;
      return this.addFinding('PATCH', `does not work: ${error.message}`);
    }
    const after = await this.readBack(scratch, mark);
    this.learned.patch = after !== undefined && !isBlank(after['serial_number']);
    const works = 'changes the fields that are sent and keeps the others';
    this.addFinding('PATCH', this.learned.patch ? works : 'is answered, but does not do what it says');
  }

  /** A second create with the same serial number and `unique_field=serial_number`. */
  private async probeUniqueField(scratch: Scratch): Promise<void> {
    const about = 'unique_field';
    const name = `${scratch.listed['name']} twin`;
    const body = { ...scratch.listed, name, asset_notes: scratchNote('second create with the same serial number') };
    const answer = await this.service.write({
      op: 'create',
      resource: 'asset',
      body,
      query: { unique_field: 'serial_number' },
    });
    if (answer.kind === 'refused') {
      this.learned.uniqueField = 'rejects';
      return this.addFinding(about, `a second record with the same value is refused: ${answerText(answer)}`);
    }
    const found = await this.retryUntil(
      async () => {
        if ((await this.service.get('asset', scratch.id))?.['name'] === name) return 'upserts' as const;
        const same = await this.findBy(scratch, 'serial_number', 'serial_number');
        return same.find((record) => record['id'] !== scratch.id);
      },
      answer.kind === 'done' ? this.lagMs : Math.min(this.lagMs, 5000),
    );
    if (!found) return this.addFinding(about, `could not be told: ${answerText(answer)}`);
    if (found === 'upserts') {
      this.learned.uniqueField = 'upserts';
      return this.addFinding(about, 'a create with a value that exists updates the record');
    }
    this.learned.uniqueField = 'ignored';
    this.leftBehind.push(`asset ${found['id']} "${name}"`);
    this.addFinding(about, 'is ignored: a second record with the same value is created');
  }

  /** PUTs the record. The record as it is then; undefined where it never shows the write; why it was refused. */
  private async write(scratch: Scratch, more: Json, step: string): Promise<Json | string | undefined> {
    const mark = scratchNote(step);
    const body = { ...scratch.listed, ...more, [scratch.mark]: mark };
    const answer = await this.update(scratch, 'PUT', body);
    return answer.kind === 'done' ? this.readBack(scratch, mark) : answerText(answer);
  }

  private update({ resource, id }: Scratch, method: 'PUT' | 'PATCH', body: Json): Promise<WriteAnswer> {
    return this.service.write({ op: 'update', method, resource, id, body });
  }

  /** The record once it shows the mark of the last write. */
  private async readBack({ resource, id, mark: field }: Scratch, mark: string): Promise<Json | undefined> {
    return this.retryUntil(async () => {
      const record = await this.service.get(resource, id);
      return record && isAlike(record[field], mark) ? record : undefined;
    });
  }

  /** Records of a list that hold the scratch record's value; also where the list comes back unfiltered: the newest stand at its end. */
  private async findBy({ resource, listed }: Scratch, parameter: string, field: string): Promise<Json[]> {
    const query = { [parameter]: String(listed[field]) };
    const first = await this.service.page(resource, 1, query);
    const last = Math.ceil(first.count / PAGE_SIZE);
    const tail = last > 1 ? await this.service.page(resource, last, query) : { results: [] };
    return [...first.results, ...tail.results].filter((record) => isAlike(record[field], listed[field]));
  }

  /** Tries until `attempt` gives something or `ms` have passed. */
  private async retryUntil<T>(attempt: () => Promise<T | undefined>, ms = this.lagMs): Promise<T | undefined> {
    const start = performance.now();
    for (let pause = 50; ; pause = Math.min(pause * 2, 2000)) {
      const found = await attempt();
      if (found !== undefined || performance.now() - start + pause > ms) return found;
      await wait(pause);
    }
  }
}

const scratchNote = (step: string) =>
  `Scratch record of \`rowferry doctor --probe\`: it may be ignored or reused by hand. Step: ${step}.`;

const isBlank = (value: unknown): boolean => value === null || value === undefined || value === '';

/** Services may keep texts in capitals. */
const isAlike = (one: unknown, other: unknown): boolean => String(one).toLowerCase() === String(other).toLowerCase();

const swapCase = (text: string): string =>
  [...text].map((char) => (char === char.toUpperCase() ? char.toLowerCase() : char.toUpperCase())).join('');

/** The service's own words of a refusal, or why the effect of a write is open. */
function answerText(answer: WriteAnswer): string {
  switch (answer.kind) {
    case 'done':
      return 'done';
    case 'refused':
      return answer.messages.map((m) => (m.field ? `${m.field}: ${m.text}` : m.text)).join('; ') || `${answer.status}`;
    case 'unsent':
    case 'open':
      return answer.reason;
  }
}
