/**
 * A line of before.ndjson: the record as the service had it before the row's write. `row` is null where no row of the file
 * speaks of the record. `set`: the fields that the write sets; `ours`: what an earlier run of ours had left there that reads do
 * not show; both as `pipeline/codec.ts` writes values. Further members are kept.
 */
export interface BeforeEntry {
  readonly row: number | null;
  readonly id: number;
  readonly record: unknown;
  readonly set?: Readonly<Record<string, unknown>>;
  readonly ours?: Readonly<Record<string, unknown>>;
}
