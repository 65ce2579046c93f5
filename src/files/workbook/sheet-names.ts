const LONGEST = 31;

/** At most 31 characters, none of `[]:*?/\`, no apostrophe at either end, and not a name that programs keep for themselves. */
export function sheetName(title: string): string {
  const clean = title
    .replace(/[[\]:*?/\\\p{Cc}\ufffe\uffff\p{Surrogate}]/gu, ' ')
    .trim()
    .slice(0, LONGEST)
    .replace(/\p{Surrogate}$/u, '')
    .replace(/^['\s]+|['\s]+$/g, '');
  return clean === '' || clean.toLowerCase() === 'history' ? 'Table' : clean;
}

/** `Assets (2)`. */
export function numberedName(name: string, number: number): string {
  const end = ` (${number})`;
  return `${name.slice(0, LONGEST - end.length).trimEnd()}${end}`;
}

/** `name`, or with a number where a sheet of another's name would be meant. Case makes no difference to programs. */
export function freeName(name: string, taken: readonly string[]): string {
  const used = new Set(taken.map((one) => one.toLowerCase()));
  let free = name;
  for (let number = 2; used.has(free.toLowerCase()); number++) free = numberedName(name, number);
  return free;
}

/** The name as formulas write it. */
export function quotedName(name: string): string {
  return `'${name.replaceAll("'", "''")}'`;
}
