import { isRequired } from '../../src/resources/rules.js';
import type { CustomField, FieldSpec, ResourceSpec } from '../../src/resources/spec.js';
import { ruleText, typeName } from '../../src/resources/value-check.js';

/**
 * What becomes of each field of a record in an update that is about another field: interface sections 2 and 4.1 (a PUT
 * replaces the whole record). Derived from the descriptions, so that it cannot say anything else than what is done.
 */

/**
 * `round trip`: reads show it and the operation takes it. `derived`: the service computes it. `kept`: the service keeps it
 * whatever a body says. `not writable`: reads show it and this operation cannot carry it. `not readable`: the operation
 * takes it and reads do not show it. `hidden`: neither.
 */
export type RoundTripClass = 'round trip' | 'derived' | 'kept' | 'not writable' | 'not readable' | 'hidden';

interface RoundTripLine {
  /** As job files name it; `template.<data type>` and `form.<data type>` for custom fields. */
  readonly field: string;
  readonly operation: 'create' | 'update';
  readonly class: RoundTripClass;
  /** Which of its values make the round trip, or on what condition; '' where all do. */
  readonly limit: string;
}

const DATA_TYPES: readonly CustomField['dataType'][] = ['text', 'money', 'number', 'date', 'attachment'];

/** Every field of a resource in both operations, in the order of the description; custom fields by data type. */
export function roundTripTable(spec: ResourceSpec): readonly RoundTripLine[] {
  return (['create', 'update'] as const).flatMap((operation) => [
    ...spec.fields.map((field) => ({
      field: field.name,
      operation,
      class: classOf(spec, field, operation),
      limit: limitOf(field, operation),
    })),
    ...customLines(spec, operation),
  ]);
}

function classOf(spec: ResourceSpec, field: FieldSpec, operation: RoundTripLine['operation']): RoundTripClass {
  if (field.derived) return 'derived';
  const writable = field[operation] !== undefined;
  if (!writable && operation === 'update' && field.keptByService) return 'kept';
  return classBy(writable, spec.readable && field.read !== undefined);
}

function classBy(writable: boolean, readable: boolean): RoundTripClass {
  if (writable) return readable ? 'round trip' : 'not readable';
  return readable ? 'not writable' : 'hidden';
}

function limitOf(field: FieldSpec, operation: RoundTripLine['operation']): string {
  const { type } = field;
  const limits: string[] = [];
  if (operation === 'update' && field.updateWords) limits.push(`written as ${list(field.updateWords)}`);
  if (type.kind === 'enum') {
    const { read, update, values } = type;
    if (operation === 'update' && update) limits.push(`written as ${list(update)}`);
    const unseen = read ? values.filter((value) => !read.includes(value)) : [];
    if (unseen.length > 0) limits.push(`reads are not documented to show ${list(unseen)}`);
  }
  if (field.readsNameOnly) limits.push('reads show its name: its id must be known');
  return limits.join('; ');
}

const list = (values: readonly string[]): string => values.map((value) => `\`${value}\``).join(', ');

function customLines(spec: ResourceSpec, operation: RoundTripLine['operation']): RoundTripLine[] {
  const seen = spec.readable;
  const line = (field: string, writable: boolean, readable: boolean, limit = ''): RoundTripLine => ({
    field,
    operation,
    class: classBy(writable, readable),
    limit,
  });
  const several = 'those of the template that reads show; a record that was created with several shows one';
  const { form } = spec;
  return [
    ...DATA_TYPES.filter((type) => type !== 'attachment').map((type) =>
      line(`template.${type}`, true, seen, spec.template.createAsList ? several : ''),
    ),
    ...DATA_TYPES.flatMap((type) => {
      if (!form) return [];
      const writable = form[operation] !== undefined && type !== 'attachment';
      const readable = seen && form.read !== undefined;
      return [line(`form.${type}`, writable, readable, writable && readable ? 'not in rows below another row' : '')];
    }),
  ];
}

/** What an update of another field does to a value that the record holds, by its class. Contract, section 7. */
const STANDS: Readonly<Record<RoundTripClass, string>> = {
  'round trip': 'carried over',
  derived: 'computed by the service',
  kept: 'kept by the service',
  'not writable': 'the row is `at_risk`; where a probe found it kept, it is sent along',
  'not readable':
    'carried over where an earlier run of ours wrote it; else one warning a run (`strict`: the row is `at_risk`)',
  hidden:
    'the row is `at_risk` where an earlier run of ours wrote it; else one warning a run (`strict`: the row is `at_risk`)',
};

/** Of a record that cannot be read at all. */
const UNREAD = 'carried over from our own last write; the row is `at_risk` where no run of ours wrote the whole record';

/** The classes of the updates of one resource as a Markdown table for docs/reference. */
export function roundTripText(spec: ResourceSpec): string {
  const updates = roundTripTable(spec).filter((line) => line.operation === 'update');
  const rows = (Object.keys(STANDS) as RoundTripClass[]).flatMap((name) => {
    const lines = updates.filter((line) => line.class === name);
    if (lines.length === 0) return [];
    const stands = !spec.readable && name === 'not readable' ? UNREAD : STANDS[name];
    return [[name, fieldList(spec, lines), stands]];
  });
  return [['In updates', 'Fields', 'A value that the row does not set'], ['---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

function fieldList(spec: ResourceSpec, lines: readonly RoundTripLine[]): string {
  const limits = new Map<string, string[]>();
  for (const { field, limit } of lines) limits.set(limit, [...(limits.get(limit) ?? []), `\`${field}\``]);
  const all = spec.fields.length > 12 && lines.length > spec.fields.length / 2;
  return [...limits]
    .sort(([a], [b]) => Number(a !== '') - Number(b !== ''))
    .map(([limit, fields]) => {
      if (limit === '') return all ? 'all others' : fields.join(', ');
      return `${fields.join(', ')} (${limit})`;
    })
    .join('; ');
}

/** The fields of a resource as a Markdown table for docs/reference; operations are R (read), C (create), U (update). */
export function fieldTable(spec: ResourceSpec): string {
  const rows = spec.fields.map((field) => [
    `\`${field.name}\``,
    typeName(field.type),
    ruleText(field),
    field.read === undefined ? '' : 'R',
    field.create === undefined || field.derived ? '' : isRequired(field, 'create') ? '**C**' : 'C',
    field.update === undefined || field.derived ? '' : isRequired(field, 'update') ? '**U**' : 'U',
    noteText(field),
  ]);
  return [
    ['Field', 'Type', 'Rule', 'Read', 'Create', 'Update', 'Note'],
    ['---', '---', '---', '---', '---', '---', '---'],
    ...rows,
  ]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
}

function noteText(field: FieldSpec): string {
  const parts: string[] = [];
  if (field.note) parts.push(field.note);
  if (field.derived && field.name !== 'id') parts.push('Derived by the service.');
  if (field.aliases) parts.push(`Also: ${field.aliases.map((alias) => `\`${alias}\``).join(', ')}.`);
  return parts.join(' ');
}
