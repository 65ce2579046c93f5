/** What somebody may do: each role what those before it may. By itself, for the command line: the schema of the API takes long to load. */
export const ROLES = ['viewer', 'operator', 'approver'] as const;
export type Role = (typeof ROLES)[number];
