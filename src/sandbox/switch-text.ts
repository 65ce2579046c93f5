import { didYouMean } from './nearest.js';
import { SWITCH_VALUES, type Switches } from './switches.js';

/** Names of the switches, as the text form spells them. */
export const SWITCH_NAMES = Object.keys(SWITCH_VALUES) as readonly (keyof Switches)[];

/** The longest that lists can be behind, in milliseconds, and the longest that text can be cut to. */
const MOST = 3_600_000;

/**
 * Reads the text form of switches, `NAME=VALUE` each: `filters=contains`, `lag=250`. A name may be spelled with dashes or underscores
 * (`unique-field`). Throws an `Error` that says what can be set, and to what.
 */
export function parseSwitches(sources: readonly string[]): Partial<Switches> {
  const changes: Partial<Switches> = {};
  for (const source of sources) {
    const mark = source.indexOf('=');
    if (mark < 0) throw new Error(`The switch "${source}" needs a value, as in filters=contains.`);
    const given = source.slice(0, mark).trim();
    const name = SWITCH_NAMES.find((one) => plain(one) === plain(given));
    if (name === undefined) {
      throw new Error(
        `There is no switch "${given}"${didYouMean(given, SWITCH_NAMES) || '.'} The switches are ${SWITCH_NAMES.join(', ')}.`,
      );
    }
    if (name in changes) throw new Error(`The switch ${name} is set twice.`);
    set(changes, name, settingOf(name, source.slice(mark + 1).trim()));
  }
  return changes;
}

const plain = (name: string): string => name.replace(/[-_]/g, '').toLowerCase();

function set<Name extends keyof Switches>(changes: Partial<Switches>, name: Name, value: unknown): void {
  changes[name] = value as Switches[Name];
}

function settingOf(name: keyof Switches, given: string): unknown {
  const allowed = SWITCH_VALUES[name];
  if (allowed === 'number') {
    if (/^\d{1,7}$/.test(given) && Number(given) <= MOST) return Number(given);
    throw new Error(`The switch ${name} is "${given}"; it must be a whole number from 0 to ${MOST}.`);
  }
  const names = allowed.map(String);
  const at = names.findIndex((one) => one.toLowerCase() === given.toLowerCase().replaceAll('-', '_'));
  if (at >= 0) return allowed[at];
  const near = didYouMean(given, names);
  throw new Error(
    `The switch ${name} is "${given}"; it must be ${names.join(', ').replace(/, ([^,]*)$/, ' or $1')}${near || '.'}`,
  );
}
