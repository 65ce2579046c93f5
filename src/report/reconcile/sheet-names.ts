/** The sheets of reconcile.xlsx. A sheet named just `History` is one that a spreadsheet program keeps for itself. */
export const SHEETS = {
  summary: 'Summary',
  create: 'To create',
  differences: 'Differences',
  orphans: 'Orphans',
  ambiguous: 'Ambiguous',
  invalid: 'Invalid',
  history: 'History of nights',
} as const;
