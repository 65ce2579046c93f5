/** What the operator is told once, until it is over. */
export interface Troubles {
  /** `lasting`: the inbox cannot do its work while it lasts, which health reports. */
  tell(key: string, text: string, lasting?: boolean): void;
  /** Over; told only where there was something. */
  over(key: string, text?: string): void;
  /** Forgets the troubles whose keys begin so and are not among these. */
  keep(prefix: string, keys: ReadonlySet<string>): void;
  readonly problem: string | undefined;
}

/** What is remembered; beyond it the oldest are forgotten, and may be told again. */
const MOST = 1000;

export function openTroubles(notice: (level: 'info' | 'warn', text: string) => void): Troubles {
  const told = new Map<string, { text: string; lasting: boolean }>();
  return {
    tell(key, text, lasting = false) {
      const known = told.has(key);
      told.set(key, { text, lasting });
      if (known) return;
      const oldest = told.keys().next().value;
      if (told.size > MOST && oldest !== undefined) told.delete(oldest);
      notice('warn', text);
    },
    over(key, text) {
      if (told.delete(key) && text !== undefined) notice('info', text);
    },
    keep(prefix, keys) {
      for (const key of told.keys()) if (key.startsWith(prefix) && !keys.has(key)) told.delete(key);
    },
    get problem() {
      return [...told.values()].find(({ lasting }) => lasting)?.text;
    },
  };
}
