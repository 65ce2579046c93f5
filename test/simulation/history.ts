/** What a record was from a moment on. */
export interface Moment {
  readonly at: number;
  /** When the request that brought it about went out. */
  readonly sent: number;
  /** The run that wrote it; undefined of what others did, and of how it was in the beginning. */
  readonly by: string | undefined;
  /** Undefined: there is no such record. */
  readonly state: Readonly<Record<string, unknown>> | undefined;
}

/** Everything that the records of one resource ever were. */
export interface History {
  readonly moments: ReadonlyMap<number, readonly Moment[]>;
  /** Called when a record has become another one; `by`: by a request of a run, else by others. */
  note(id: number, by?: Pick<Moment, 'by' | 'sent'>): void;
}

export function openHistory(now: () => number, read: (id: number) => Moment['state']): History {
  const moments = new Map<number, Moment[]>();
  return {
    moments,
    note(id, { by, sent } = { by: undefined, sent: now() }) {
      const of = moments.get(id) ?? [];
      of.push({ at: now(), sent, by, state: read(id) });
      moments.set(id, of);
    },
  };
}

/** Contract, section 7: a record that was read a minute ago is read again before its PUT; and reading and sending take their time. */
export const FRESH_MS = 71_000;

/** The value of a field as it can be compared. */
export const fieldOf = (moment: Moment | undefined, field: string): string =>
  moment?.state === undefined ? 'no record' : (JSON.stringify(moment.state[field]) ?? 'null');
