import { country, date, type Kind, money, type WritableName, type WriteContext } from './kinds.js';
import * as show from './render.js';
import type { StoredValues, Value } from './stored-record.js';

/** One spelling of a field in write bodies, and the bodies that may hold it. */
interface Spelling {
  readonly name: string;
  readonly kind: Kind;
  readonly create: boolean;
  /** Listed in the documented update body. */
  readonly update: boolean;
}

interface Field {
  /** The field's name in the store. */
  readonly name: string;
  readonly spellings: readonly Spelling[];
  readonly required: boolean;
  /** What a PUT leaves when the body omits the field. */
  readonly fallback: Value;
  /** No update changes it, and none clears it. */
  readonly fixed: boolean;
}

type FieldOptions = Partial<Pick<Field, 'required' | 'fallback' | 'fixed'>>;

export const onCreate = (name: string, kind: Kind): Spelling => ({ name, kind, create: true, update: false });
export const onUpdate = (name: string, kind: Kind): Spelling => ({ name, kind, create: false, update: true });
export const onBoth = (name: string, kind: Kind): Spelling => ({ name, kind, create: true, update: true });

/** A field with several spellings, or a kind of its own for each. */
export function withSpellings(name: string, spellings: readonly Spelling[], options: FieldOptions = {}): Field {
  return { name, spellings, required: false, fallback: null, fixed: false, ...options };
}

/** A field that create and update spell alike. */
export function field(name: string, kind: Kind, options?: FieldOptions): Field {
  return withSpellings(name, [onBoth(name, kind)], options);
}

/** Fields of one kind. */
export function fields(kind: Kind, ...names: string[]): Field[] {
  return names.map((name) => field(name, kind));
}

/** A field that only the create body lists. */
export function createOnly(name: string, kind: Kind, options?: FieldOptions): Field {
  return withSpellings(name, [onCreate(name, kind)], options);
}

/** A field that no documented body lists. */
export function unlisted(name: string, kind: Kind): Field {
  return withSpellings(name, [{ name, kind, create: false, update: false }]);
}

/** A writable resource as the interface describes it. */
export interface Resource {
  readonly name: WritableName;
  readonly fields: readonly Field[];
  /** Names of text fields with an index. */
  readonly indexed: readonly string[];
  /** A text field whose value is unique over the whole account. */
  readonly unique?: string;
  /** Rules across fields; faults go to `context.fail`. */
  rules?(value: (field: string) => Value, context: WriteContext): void;
  readonly read: show.ReadForm;
}

/** Kinds that reads do not show as they are stored. */
const RENDERERS = new Map<Kind, typeof show.members>([
  [date, show.dates],
  [money, show.amounts],
  [country, show.countries],
]);

/** A read form: each field under its name, but those that are `hidden` and those that a member of `own` shows. */
export function readMembers(written: readonly Field[], hidden: readonly string[], own: show.ReadForm): show.ReadForm {
  const excluded = new Set([...hidden, ...own.flatMap((member) => ('from' in member ? [member.from] : []))]);
  const plain = written.filter(({ name }) => !excluded.has(name));
  const plainMembers = plain.flatMap(({ name, spellings }) =>
    (RENDERERS.get(spellings[0]!.kind) ?? show.members)(name),
  );
  return [show.idMember, ...plainMembers, ...own];
}

/** A resource made ready: what each body may hold. */
export interface Compiled {
  readonly resource: Resource;
  readonly create: ReadonlyMap<string, Target>;
  readonly update: ReadonlyMap<string, Target>;
  /** Every spelling, for a service whose PUT takes undocumented fields. */
  readonly any: ReadonlyMap<string, Target>;
  /** Every spelling, with the freedom of a create, for records put in without HTTP. */
  readonly insert: ReadonlyMap<string, Target>;
  readonly blank: StoredValues;
}

export interface Target {
  readonly field: string;
  readonly kind: Kind;
}

export function compile(resource: Resource): Compiled {
  const bodies = {
    create: new Map<string, Target>(),
    update: new Map<string, Target>(),
    any: new Map<string, Target>(),
    insert: new Map<string, Target>(),
  };
  for (const { name, spellings } of resource.fields) {
    for (const spelling of spellings) {
      const target = { field: name, kind: spelling.kind };
      if (spelling.create) bodies.create.set(spelling.name, target);
      if (spelling.update) bodies.update.set(spelling.name, target);
      if (spelling.update || !bodies.any.has(spelling.name)) bodies.any.set(spelling.name, target);
      if (spelling.create || !bodies.insert.has(spelling.name)) bodies.insert.set(spelling.name, target);
    }
  }
  const blank = Object.fromEntries(resource.fields.map(({ name, fallback }) => [name, fallback]));
  return { resource, ...bodies, blank };
}
