import { RunError } from '../../model/error.js';
import type { Json } from '../../service/port.js';
import {
  answerForm,
  type Finding,
  findBy,
  isBlankField,
  mustBeDone,
  type PartialProbe,
  type ProbeContext,
  probeFilters,
  readBack,
  within,
  wordsOf,
} from './probe-steps.js';

/** Job name → field of the read form, for what an asset update does not list (interface 4.4). */
const UNLISTED = { area: 'area', state_province: 'state_province', business_entity_type: 'business_entity' } as const;
type Unlisted = keyof typeof UNLISTED;

/** Parameter of the list → field of the update body. */
const FILTERS = {
  serial_number: 'serial_number',
  name: 'name',
  asset_tag: 'asset_tag',
  manufacturer_name: 'manufacturer',
};

/** The scratch asset: what its writes say, and the marker in its notes that tells one write from the next. */
interface Scratch {
  readonly id: number;
  readonly listed: Json;
  readonly unlisted: Readonly<Record<Unlisted, string>>;
}

export async function probeAsset(context: ProbeContext): Promise<PartialProbe> {
  const findings: Finding[] = [];
  const say = (about: string, text: string) => void findings.push({ about, text });

  const scratch = await createScratch(context, say);
  const leftBehind = [`asset ${scratch.id} "${scratch.listed['name']}"`];
  try {
    return { findings, ...(await probeScratch(context, scratch, leftBehind, say)) };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    const behind = leftBehind.map((record) => `${record} was created and stays`);
    throw new RunError(error.kind, error.message, [...error.details, ...behind], { cause: error });
  }
}

async function probeScratch(
  context: ProbeContext,
  scratch: Scratch,
  leftBehind: string[],
  say: Say,
): Promise<Omit<PartialProbe, 'findings'>> {
  const filters = await probeFilters(context, 'asset', scratch, FILTERS, say);
  const putAccepts = await probeUnlisted(context, scratch, say);
  const omitted = await probeOmitted(context, scratch, say);
  const patch = await probePatch(context, scratch, say);
  const unique = await probeUnique(context, scratch, say);
  if (unique.second !== undefined) leftBehind.push(`asset ${unique.second} "${scratch.listed['name']} twin"`);
  return {
    putAccepts,
    filters,
    leftBehind,
    ...(omitted === undefined ? {} : { omitted }),
    ...(patch === undefined ? {} : { patch }),
    ...(unique.behaviour === undefined ? {} : { uniqueField: unique.behaviour }),
  };
}

type Say = (about: string, text: string) => void;

const note = (step: string) =>
  `Scratch record of \`rowferry doctor --probe\`: it may be ignored or reused by hand. Step: ${step}.`;

async function createScratch(context: ProbeContext, say: Say): Promise<Scratch> {
  const { service, company, tag } = context;
  const category = (await service.page('category', 1)).results[0];
  const subcategories = category?.['subcategories'];
  const subcategory: unknown = Array.isArray(subcategories) ? subcategories[0] : undefined;
  const listed: Json = {
    company,
    name: `rowferry probe ${tag}`,
    serial_number: `RF-Probe-${tag}`,
    asset_tag: `RF-Tag-${tag}`,
    manufacturer: `rowferry Maker ${tag}`,
    ...(category ? { category: { id: category['id'], ...(subcategory ? { subcategory } : {}) } } : {}),
  };
  const unlisted = { area: 'Probe area', state_province: 'Probe state', business_entity_type: 'Probe entity' };
  const body = { ...listed, ...unlisted, product_description: 'probe', asset_notes: note('create') };
  const answer = await service.create('asset', body);
  mustBeDone(answer, 'The scratch asset', []);
  say('answers', answerForm(answer));

  const serial = String(listed['serial_number']);
  const seen = await within(context.lagMs, async () => {
    const found = await findBy(service, {
      resource: 'asset',
      parameter: 'serial_number',
      field: 'serial_number',
      value: serial,
    });
    return found[0];
  });
  const id = answer.kind === 'done' && answer.id !== undefined ? answer.id : seen?.value['id'];
  if (typeof id !== 'number') {
    throw new RunError(
      'failed',
      `The scratch asset "${listed['name']}" was accepted, but a look-up by its serial number ${serial} did not find it within ${Math.round(context.lagMs / 1000)} s. It stays in the service.`,
    );
  }
  say(
    'look-ups',
    seen
      ? `a new record is found by a filter ${seen.after < 1000 ? 'at once' : `after about ${Math.ceil(seen.after / 1000)} s`}`
      : `a new record is not found by a filter within ${Math.round(context.lagMs / 1000)} s`,
  );
  return { id, listed, unlisted };
}

/** Sends the fields that the update body does not list, with new values, and looks what became of them. */
async function probeUnlisted(context: ProbeContext, scratch: Scratch, say: Say): Promise<string[]> {
  const names = Object.keys(UNLISTED) as Unlisted[];
  const changed = (name: Unlisted) => `${scratch.unlisted[name]} 2`;
  const put = async (fields: readonly Unlisted[], step: string) => {
    const extra = Object.fromEntries(fields.map((name) => [name, changed(name)]));
    const marker = note(step);
    const body = { ...scratch.listed, product_description: 'probe', asset_notes: marker, ...extra };
    const answer = await context.service.update('asset', scratch.id, body);
    if (answer.kind !== 'done') return wordsOf(answer);
    return readBack(context, { resource: 'asset', id: scratch.id, field: 'asset_notes', marker });
  };
  const together = await put(names, 'PUT with fields that the update does not list');
  const kept: string[] = [];
  for (const name of names) {
    const after = typeof together === 'string' ? await put([name], `PUT with ${name}`) : together;
    if (typeof after === 'string') say(`PUT with ${name}`, `is refused: ${after}`);
    else if (!after) say(`PUT with ${name}`, 'could not be read back: it stays at risk');
    else if (isBlankField(after, UNLISTED[name])) say(`PUT with ${name}`, 'the field is emptied although it is sent');
    else {
      kept.push(name);
      const taken = after[UNLISTED[name]] === changed(name);
      say(`PUT with ${name}`, taken ? 'the field is written' : 'the field keeps its old value whatever is sent');
    }
  }
  return kept;
}

async function probeOmitted(context: ProbeContext, scratch: Scratch, say: Say): Promise<'nulled' | 'kept' | undefined> {
  const marker = note('PUT that leaves fields out');
  const answer = await context.service.update('asset', scratch.id, { ...scratch.listed, asset_notes: marker });
  if (answer.kind !== 'done') {
    say('omitted fields', `a PUT that leaves fields out is refused: ${wordsOf(answer)}`);
    return undefined;
  }
  const after = await readBack(context, { resource: 'asset', id: scratch.id, field: 'asset_notes', marker });
  if (!after) {
    say('omitted fields', 'could not be read back');
    return undefined;
  }
  const omitted = isBlankField(after, 'product_description') ? 'nulled' : 'kept';
  say('omitted fields', omitted === 'nulled' ? 'a PUT empties what it leaves out' : 'a PUT keeps what it leaves out');
  return omitted;
}

async function probePatch(context: ProbeContext, scratch: Scratch, say: Say): Promise<boolean | undefined> {
  const marker = note('PATCH of the notes alone');
  const body = { company: context.company, asset_notes: marker };
  try {
    const answer = await context.service.update('asset', scratch.id, body, 'PATCH');
    if (answer.kind !== 'done') {
      say('PATCH', `does not work: ${wordsOf(answer)}`);
      return answer.kind === 'refused' ? false : undefined;
    }
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    say('PATCH', `does not work: ${error.message}`);
    return false;
  }
  const after = await readBack(context, { resource: 'asset', id: scratch.id, field: 'asset_notes', marker });
  const whole = after !== undefined && after['serial_number'] === scratch.listed['serial_number'];
  say(
    'PATCH',
    whole ? 'changes the fields that are sent and keeps the others' : 'is answered, but does not do what it says',
  );
  return whole;
}

/** A second create with the same serial number and `unique_field=serial_number`. */
async function probeUnique(
  context: ProbeContext,
  scratch: Scratch,
  say: Say,
): Promise<{ behaviour?: 'rejects' | 'upserts' | 'ignored'; second?: number }> {
  const name = `${scratch.listed['name']} twin`;
  const serial = String(scratch.listed['serial_number']);
  const body = { ...scratch.listed, name, asset_notes: note('second create with the same serial number') };
  const answer = await context.service.create('asset', body, { unique_field: 'serial_number' });
  if (answer.kind === 'refused') {
    say('unique_field', `a second record with the same value is refused: ${wordsOf(answer)}`);
    return { behaviour: 'rejects' };
  }
  const lookup = { resource: 'asset', parameter: 'serial_number', field: 'serial_number', value: serial } as const;
  const found = await within(answer.kind === 'done' ? context.lagMs : Math.min(context.lagMs, 5000), async () => {
    const first = await context.service.get('asset', scratch.id);
    if (first?.['name'] === name) return { behaviour: 'upserts' as const };
    const twin = (await findBy(context.service, lookup)).find((record) => record['id'] !== scratch.id);
    return typeof twin?.['id'] === 'number' ? { behaviour: 'ignored' as const, second: twin['id'] } : undefined;
  });
  if (found?.value.behaviour === 'upserts') say('unique_field', 'a create with a value that exists updates the record');
  else if (found) say('unique_field', 'is ignored: a second record with the same value is created');
  else say('unique_field', `could not be told: ${wordsOf(answer)}`);
  return found?.value ?? {};
}
