/** The sheets of reconcile.xlsx. */
export const SHEETS = {
  summary: 'Summary',
  create: 'To create',
  differences: 'Differences',
  orphans: 'Orphans',
  ambiguous: 'Ambiguous',
  invalid: 'Invalid',
} as const;
