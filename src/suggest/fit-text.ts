import { makeConverter } from '../pipeline/convert.js';
import { excerpt } from '../pipeline/nearest.js';
import { isRefusal } from '../pipeline/refusal.js';
import type { FieldSpec } from '../resources/spec.js';
import { checkValue } from '../resources/value-check.js';
import { type Column, type FileFacts, type Fit, judged, number, tally } from './column.js';
import { longerThan } from './profile.js';
import { countsRows, mayBePhone, type SampledCell, shapeOf, shareOf } from './shapes.js';

/** A row whose text is too long is invalid; a job where so many are would be stopped by its brake. */
const TOO_MANY_LONG = 0.2;
/** Where more values lost digits, the column is likely but not certain. */
const TOO_MANY_LOST = 0.2;

const IDENTIFIERS = new Set([
  'number',
  'serial_number',
  'asset_tag',
  'inventory_no',
  'pseudo_number',
  'parent_serial_number',
]);
const PHONES = /(?:^|_)(?:phone|mobile|fax)$/;
/** Fields that hold a name of something: numbers, addresses of mails and dates are none. */
const NAMES =
  /^(?:name|manufacturer|business_name|contact_person\.name|sales_manager_name|approver|signer|city|business_city|state_province)$/;

export function fitText(column: Column, field: FieldSpec, file: FileFacts): Fit {
  const { sampled } = column;
  const length = lengthFit(column, field);
  const { remarks } = length;
  if (length.against !== undefined) return length;
  if (IDENTIFIERS.has(field.name) && countsRows(sampled)) {
    return { ...length, factor: 0.5, against: 'the values count the rows (1, 2, 3 …) and identify nothing' };
  }
  const ofShape = expectedShape(field, column, file);
  if (ofShape) return { ...ofShape, remarks: [...remarks, ...ofShape.remarks] };
  const odd = NAMES.test(field.name) ? notNames(column) : undefined;
  if (odd !== undefined) return { ...length, factor: 0.6, against: odd };
  const convert = makeConverter(field, { decimal: { sign: '.', why: '' }, format: file.format });
  const bad = sampled.cells.filter(({ cell }) => isError(cell) || isRefusal(convert(cell)));
  const [first] = bad;
  if (!first) return length;
  const such = `"${excerpt(first.text)}" (row ${first.row})`;
  const others = bad.length === 1 ? such : `${such} and ${number(bad.length - 1)} more`;
  const lossy = `${others} cannot be read as text without loss; such rows will be invalid`;
  const share = bad.length / sampled.cells.length;
  const lost = {
    unreadable: bad.length,
    evidence: lengthEvidence(column, field, file.whole ? bad.length : 0),
    factor: Math.min(length.factor, share > TOO_MANY_LOST ? 0.85 : 0.97),
  };
  return { ...length, ...lost, remarks: [...remarks, lossy] };
}

/** How many texts the field has room for, counted over the whole file. */
function lengthFit(column: Column, field: FieldSpec): Fit {
  const { profile } = column;
  const max = roomOf(field);
  if (max === undefined) return { factor: 1, evidence: [], remarks: [] };
  const long = tooLong(column, max);
  const evidence = [fitting(profile.filled - long, profile.filled)];
  if (long === 0) return { factor: 1, evidence, remarks: [] };
  const said = `${number(long)} of ${number(profile.filled)} values are longer than the ${max} characters of ${field.name}`;
  const many = long / profile.filled > TOO_MANY_LONG;
  if (many && field.required !== true) return { factor: 0.6, evidence, remarks: [], against: said };
  const remark = `${said} (the longest has ${number(profile.longest)}): those rows will be invalid`;
  return { factor: 0.97, evidence, remarks: [remark] };
}

/** As `lengthFit` says it, but that `lost` values, though short enough, do not fit. */
function lengthEvidence(column: Column, field: FieldSpec, lost: number): string[] {
  const { filled } = column.profile;
  const max = roomOf(field);
  if (max === undefined) return lost === 0 ? [] : [fitting(filled - lost, filled)];
  return [fitting(Math.max(0, filled - tooLong(column, max) - lost), filled)];
}

const fitting = (count: number, all: number) => `${number(count)} of ${number(all)} values fit`;

function roomOf({ type }: FieldSpec): number | undefined {
  return type.kind === 'text' ? (type.max ?? type.exact) : type.kind === 'email' ? type.max : undefined;
}

function tooLong({ profile, sampled }: Column, max: number): number {
  return longerThan(profile, max) ?? shareOf(sampled, ({ text }) => text.length > max).count;
}

/** Why the values are no names; undefined where they may be. */
function notNames({ sampled }: Column): string | undefined {
  const odd = tally(sampled, ({ text }) => shapeOf(text) === 'text' || /\p{L}{2} /u.test(text));
  const count = sampled.cells.length - odd.fits;
  if (count * 2 <= sampled.cells.length || !odd.misfit) return undefined;
  return `${number(count)} of ${number(sampled.cells.length)} values are numbers, dates or addresses, such as "${excerpt(odd.misfit.text)}", not names`;
}

const isError = (cell: SampledCell['cell']) => typeof cell === 'object' && (cell.t === 'e' || cell.t === 'f');

/** Fields whose values have a form of their own: addresses of mails, telephone numbers, web addresses, register numbers. */
function expectedShape(field: FieldSpec, column: Column, file: FileFacts): Fit | undefined {
  const { sampled } = column;
  const type = field.type;
  if (type.kind === 'email')
    return judged(
      column,
      tally(sampled, ({ text }) => checkValue(field, text) === undefined && shapeOf(text) === 'email'),
      'are e-mail addresses',
    );
  if (type.kind === 'text' && type.exact !== undefined) {
    const length = type.exact;
    return judged(
      column,
      tally(sampled, ({ text }) => checkValue(field, text) === undefined),
      `have the ${length} characters of ${field.name}`,
    );
  }
  if (PHONES.test(field.name))
    return judged(
      column,
      tally(sampled, ({ text }) => mayBePhone(text)),
      'look like telephone numbers',
    );
  if (field.name === 'website')
    return judged(
      column,
      tally(sampled, ({ text }) => shapeOf(text) === 'url'),
      'look like web addresses',
    );
  if (field.name === 'mac_address') {
    return judged(
      column,
      tally(sampled, ({ text }) => /^(?:[0-9a-f]{2}[:.-]?){5}[0-9a-f]{2}$/i.test(text)),
      'look like MAC addresses',
    );
  }
  if (/zip/.test(field.name))
    return judged(
      column,
      tally(sampled, ({ text }) => /^[\p{L}\p{N}\s.-]{2,12}$/u.test(text)),
      `look like postal codes${file.whole ? '' : ' in the sample'}`,
    );
  return undefined;
}
