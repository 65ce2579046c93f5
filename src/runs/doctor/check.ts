/** One thing that `rowferry doctor` looked at. */
export interface Check {
  readonly name: string;
  /** `bad` makes the exit code 1 (settings: 2); `warn` does not. */
  readonly state: 'ok' | 'warn' | 'bad';
  readonly found: string;
  /** What to do, where something is to be done. */
  readonly advice?: string;
  readonly settings?: true;
}
