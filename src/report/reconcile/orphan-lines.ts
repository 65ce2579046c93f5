import type { OrphanLine } from '../../model/reconcile.js';

export const ORPHAN_COLUMNS = [
  'id',
  'key',
  'name',
  'since',
  'absences',
  'state',
  'why',
  'outcome',
  'codes',
  'message',
  'changes',
] as const;

/** A line of orphans.csv. */
export function orphanLine(orphan: OrphanLine): string[] {
  return [
    String(orphan.id),
    orphan.key,
    orphan.name,
    orphan.since,
    String(orphan.absences),
    orphan.state,
    orphan.why ?? '',
    orphan.outcome ?? '',
    orphan.codes?.join('; ') ?? '',
    orphan.message ?? '',
    changesText(orphan),
  ];
}

/** `lifecycle_stage: Deployed → Retired` */
export function changesText({ changes = [] }: OrphanLine): string {
  return changes.map(({ field, old, new: value }) => `${field}: ${shown(old)} → ${shown(value)}`).join('; ');
}

function shown(value: string): string {
  return value === '' ? '(none)' : value;
}
