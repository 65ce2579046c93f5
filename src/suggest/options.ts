import type { Guess } from './assign.js';
import type { ColumnProfile } from './profile.js';
import type { ColumnOptions } from './suggestion.js';

/** What the job says about a mapped column beside its field. */
export function optionsOf(
  { field, fit }: Guess,
  profile: ColumnProfile,
  whole: { readonly dates: readonly string[]; readonly sign: '.' | ',' | undefined },
): ColumnOptions {
  const { dates, decimal, choices } = fit;
  const sign = decimal?.rule.sign;
  const open = choices?.open ?? [];
  const type = field.type;
  return {
    ...(dates && dates.formats.length > 0 && whole.dates.length === 0 ? { dates: dates.formats } : {}),
    ...(dates?.open ? { openDates: dates.open.formats } : {}),
    ...(decimal?.evidence !== undefined && sign !== undefined && sign !== 'each' && sign !== whole.sign
      ? { decimal: sign }
      : {}),
    ...(choices && choices.suggested.size > 0 ? { values: choices.suggested } : {}),
    ...(open.length > 0
      ? {
          openValues: open.map((text) => ({ text, rows: profile.choices?.get(text) ?? 1 })),
          accepted: type.kind === 'enum' ? type.values : type.kind === 'boolean' ? ['true', 'false'] : [],
        }
      : {}),
  };
}

/** What a person should know or decide about a mapped column, a sentence each. */
export function remarksOf({ fit }: Guess): string[] {
  const { dates, decimal, remarks } = fit;
  const said = [...remarks];
  if (dates?.open) {
    said.push(
      `day and month cannot be told apart, as in "${dates.open.text}" (row ${dates.open.row}): such rows are refused until you state the format`,
    );
  }
  if (decimal?.warning !== undefined && decimal.rule.sign === 'each') said.push(decimal.warning);
  return said;
}
