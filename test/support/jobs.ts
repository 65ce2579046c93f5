type Match = Readonly<Record<string, unknown>> & { readonly key: string | readonly string[] };

export interface ImportOf<C extends object> {
  readonly kind: 'import';
  readonly resource: string;
  readonly match: Match;
  readonly columns: C;
}

/** The job of an import: what it writes, its key (or the whole of `match`), heading → field, and what else it says. */
export function importOf<C extends object, M extends object = object>(
  resource: string,
  match: string | readonly string[] | Match,
  columns: C,
  more?: M,
): ImportOf<C> & M {
  const whole = typeof match === 'string' || Array.isArray(match) ? { key: match } : match;
  return { kind: 'import', resource, match: whole as Match, columns, ...(more as M) };
}

/** What every contract has, as the service keeps it; its supplier is the first. */
export const PLAIN_CONTRACT = {
  contract_type: 'buy_side',
  supplier: 1,
  country: 276,
  status: 'active',
  contract_start_date: '2024-01-01',
  contract_end_date: '2026-01-01',
  total_contract_spend_value: 100,
};

/** What every new contract needs, as constants of a job. */
export const NEW_CONTRACT = { ...PLAIN_CONTRACT, supplier: 'Acme', country: 'DE', contract_end_date: '2027-01-01' };
