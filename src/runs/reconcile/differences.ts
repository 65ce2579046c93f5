import type { Change } from '../../model/change.js';
import type { ReconcileFacts } from '../../model/reconcile.js';

type Differences = ReconcileFacts['differences'];

/** Counts in how many fields rows and records differ, and whose value stands. */
export function differenceCounter(): {
  see(change: Change): void;
  counts(): Differences;
  /** Rows that cannot be taken, by heading or field at fault. */
  readonly invalidBy: Map<string, number>;
} {
  const byField = new Map<string, { file: number; service: number; cleared: number }>();
  const invalidBy = new Map<string, number>();
  let rows = 0;
  return {
    invalidBy,
    see(change) {
      // What a row that cannot be written would have changed is no difference that anybody settled.
      if (change.kind === 'settled' && change.outcome === 'invalid') {
        const faulty = change.issues.flatMap(({ severity, column, field }) =>
          severity === 'error' ? [column ?? field ?? ''] : [],
        );
        for (const name of new Set(faulty)) if (name !== '') invalidBy.set(name, (invalidBy.get(name) ?? 0) + 1);
        return;
      }
      const differing = ('diff' in change ? (change.diff ?? []) : []).filter(
        ({ kind }) => kind === 'set' || kind === 'clear' || kind === 'kept',
      );
      if (differing.length > 0) rows++;
      for (const { field, kind } of differing) {
        const counts = byField.get(field) ?? { file: 0, service: 0, cleared: 0 };
        if (kind === 'kept') counts.service++;
        else counts.file++;
        if (kind === 'clear') counts.cleared++;
        byField.set(field, counts);
      }
    },
    counts() {
      const fields = [...byField].map(([field, counts]) => ({ field, ...counts }));
      const sum = (of: (one: (typeof fields)[number]) => number) => fields.reduce((total, one) => total + of(one), 0);
      return {
        rows,
        fields: sum(({ file, service }) => file + service),
        file_stands: sum(({ file }) => file),
        service_stands: sum(({ service }) => service),
        cleared: sum(({ cleared }) => cleared),
        by_field: fields.sort((a, b) => b.file + b.service - (a.file + a.service) || (a.field < b.field ? -1 : 1)),
      };
    },
  };
}
