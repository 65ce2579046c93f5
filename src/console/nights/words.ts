import type { Night } from '../../api/schema.js';
import { counted } from '../kit/format.js';

/** How nights are told, in the chart as in the table beside it. */

export const FIGURES: readonly { readonly what: string; readonly of: (night: Night) => number }[] = [
  { what: 'Rows', of: ({ rows }) => rows },
  { what: 'Differences', of: ({ differences }) => differences },
  { what: 'New orphans', of: ({ new_orphans }) => new_orphans },
];

const dayOfYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

export function nightDay({ started_at }: Pick<Night, 'started_at'>): string {
  return dayOfYear.format(new Date(started_at));
}

/** Of a night whose reports are not here. */
export function nightLine({ status, reason, apply, differences, put_right, created }: Night): string {
  if (status === 'braked') return 'Stopped by a brake: nothing was written.';
  if (status !== 'succeeded' && status !== 'partial') return reason ?? 'This night did not come to its end.';
  if (!apply) return `${counted(differences, 'difference')} found; this night only reported.`;
  return `${counted(put_right, 'record')} put right, ${counted(created, 'record')} created.`;
}
