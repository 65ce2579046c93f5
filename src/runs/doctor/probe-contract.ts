import type { Json } from '../../service/port.js';
import {
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

/** What a contract update does not list and reads show (interface 4.3). The form columns are tried as a whole. */
const UNLISTED = ['approver', 'signer', 'signed_date'] as const;

/** Parameter of the list → field of the update body. */
const FILTERS = { contract_no: 'number', name: 'name' };

const NOTE = 'Scratch record of `rowferry doctor --probe`: it may be ignored.';

/** Numeric ISO code; any country will do, the field is required. */
const COUNTRY = 840;

export async function probeContract(context: ProbeContext): Promise<PartialProbe> {
  const findings: Finding[] = [];
  const say = (about: string, text: string) => void findings.push({ about, text });
  const supplier = (await context.service.page('supplier', 1)).results[0];
  if (typeof supplier?.['id'] !== 'number') {
    say('contract', 'not tried: there is no supplier that a scratch contract could be booked on');
    return { findings, putAccepts: [], filters: {}, leftBehind: [] };
  }
  const scratch = await createScratch(context, supplier['id']);
  const leftBehind = [`contract ${scratch.id} "${scratch.listed['name']}" (archived)`];
  const filters = await probeFilters(context, 'contract', scratch, FILTERS, say);
  const putAccepts = await probeUnlisted(context, scratch, say);
  return { findings, putAccepts, filters, leftBehind };
}

interface Scratch {
  readonly id: number;
  /** The update body, without what an update does not list. */
  readonly listed: Json;
  /** A custom form and a text column of it, where the service has one for contracts. */
  readonly form?: { readonly id: number; readonly column: string };
}

async function createScratch(context: ProbeContext, supplier: number): Promise<Scratch> {
  const { service, company, tag } = context;
  const number = `RF-Probe-${tag}`;
  const listed: Json = {
    company,
    name: `rowferry probe ${tag}`,
    number,
    supplier,
    country: COUNTRY,
    status: 'archived',
    contract_start_date: '2020-01-01',
    contract_end_date: '2020-12-31',
    total_contract_spend_value: 0,
  };
  const form = await contractForm(context);
  const answer = await service.create('contract', {
    ...listed,
    contract_type: 'buy_side',
    description: NOTE,
    ...unlistedValues('1', form),
  });
  mustBeDone(answer, 'The scratch contract', []);
  const lookup = { resource: 'contract', parameter: 'contract_no', field: 'number', value: number } as const;
  const found =
    answer.kind === 'done' && answer.id !== undefined
      ? answer.id
      : (await within(context.lagMs, async () => (await findBy(service, lookup))[0]))?.value['id'];
  if (typeof found !== 'number') {
    mustBeDone(
      { kind: 'open', answered: true, reason: `no contract ${number} was found afterwards` },
      'The scratch contract',
      [],
    );
  }
  return { id: Number(found), listed, ...(form ? { form } : {}) };
}

async function contractForm(context: ProbeContext): Promise<{ id: number; column: string } | undefined> {
  const page = await context.service.page('custom-form-template', 1);
  for (const form of page.results) {
    if (form['type'] !== 'contract' || form['is_active'] !== true || !Array.isArray(form['fields'])) continue;
    const fields: readonly Json[] = form['fields'];
    const text = fields.find((field) => field['data_type'] === 'text' && field['is_active'] === true);
    if (text && typeof form['id'] === 'number') return { id: form['id'], column: String(text['name']) };
  }
  return undefined;
}

function unlistedValues(version: string, form: Scratch['form']): Json {
  return {
    approver: `Probe approver ${version}`,
    signer: `Probe signer ${version}`,
    signed_date: `2020-01-0${version}`,
    ...(form ? { form_template: [{ id: form.id, custom_form_data: { [form.column]: `probe ${version}` } }] } : {}),
  };
}

async function probeUnlisted(
  context: ProbeContext,
  scratch: Scratch,
  say: (about: string, text: string) => void,
): Promise<string[]> {
  const marker = `${NOTE} Step: PUT with fields that the update does not list.`;
  const before = await context.service.get('contract', scratch.id);
  // The interface shows no form columns in contracts; where a service does, what a PUT does to them can be told.
  const formShown = scratch.form !== undefined && before !== undefined && !isBlankField(before, 'custom_form');
  const answer = await context.service.update('contract', scratch.id, {
    ...scratch.listed,
    description: marker,
    ...unlistedValues('2', scratch.form),
  });
  if (answer.kind !== 'done') {
    say('PUT of a contract', `with approver, signer, signed_date or form columns it is refused: ${wordsOf(answer)}`);
    return [];
  }
  const after = await readBack(context, { resource: 'contract', id: scratch.id, field: 'description', marker });
  if (!after) {
    say('PUT of a contract', 'could not be read back');
    return [];
  }
  const kept: string[] = UNLISTED.filter((name) => !isBlankField(after, name));
  if (formShown && JSON.stringify(after['custom_form'] ?? null).includes('probe ')) kept.push('form');
  const tried = [...UNLISTED, ...(formShown ? ['form'] : [])];
  for (const name of tried) {
    const what = name === 'form' ? 'PUT with form columns of a contract' : `PUT with ${name}`;
    say(what, kept.includes(name) ? 'the value is kept' : 'the field is emptied although it is sent');
  }
  return kept;
}
