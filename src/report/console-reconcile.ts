import { GOOD_OUTCOMES, OUTCOMES } from '../model/outcome.js';
import { clean } from './console-text.js';
import { outcomeWords } from './outcome-words.js';
import { orphanParts } from './reconcile/words.js';
import { count, counted, rowsForPerson, type Summary } from './summary.js';

const MOST_FIELDS = 6;

type Facts = NonNullable<Summary['reconcile']>;

/** What a terminal shows of a comparison: one line a number, what it is made of beside it. */
export function comparedLines(summary: Summary, facts: Facts): string[] {
  const { rows, dry_run: dry } = summary;
  const { compared, differences, orphans, scope } = facts;
  const person = rowsForPerson(rows) - rows.not_attempted;
  const lines: [flag: ' ' | '!', n: number, what: string, made: string][] = [
    [' ', compared?.agree ?? rows.unchanged, 'agree', ''],
    [' ', compared?.differ ?? differences.rows, 'differ', differing(compared, dry)],
    [' ', rows.created, dry ? 'to create' : 'created', ''],
    [' ', rows.skipped, 'skipped', 'by the job’s own rule'],
    [' ', orphans.total, orphans.total === 1 ? 'orphan' : 'orphans', orphaned(summary, facts)],
    ['!', person, person === 1 ? 'needs a person' : 'need a person', needing(rows)],
    ['!', rows.not_attempted, 'not reached', 'the run stopped before them'],
  ];
  const shown = lines.filter(([, n, what]) => n > 0 || what === 'agree' || what === 'differ');
  const width = Math.max(...shown.map(([, n]) => count(n).length));
  const most = [...differences.by_field].sort((a, b) => b.file + b.service - (a.file + a.service));
  const fields = most
    .slice(0, MOST_FIELDS)
    .map(({ field, file, service }) => `${clean(field)} ${count(file + service)}`);
  const more = most.length - fields.length;
  return [
    `Compared ${counted(rows.total, 'row')} with ${counted(scope.records, 'record')} of the service:`,
    '',
    ...shown.map(([flag, n, what, made]) =>
      `${flag} ${count(n).padStart(width)}  ${what.padEnd(15)}${made === '' ? '' : ` ${made}`}`.trimEnd(),
    ),
    ...(fields.length > 0 ? ['', `Fields that differ: ${fields.join(', ')}${more > 0 ? `, ${more} more` : ''}`] : []),
    ...(orphans.held_reason === undefined ? [] : ['', `Orphans are held: ${clean(orphans.held_reason)}`]),
  ];
}

function differing(compared: Facts['compared'], dry: boolean): string {
  if (!compared) return '';
  const parts = [
    compared.put_right > 0 && `${count(compared.put_right)} ${dry ? 'would be put right' : 'put right'}`,
    compared.left_to_service > 0 && `${count(compared.left_to_service)} left to the service`,
    compared.not_put_right > 0 && `${count(compared.not_put_right)} not put right`,
  ];
  return parts.filter((part) => part !== false).join(', ');
}

function orphaned(summary: Summary, facts: Facts): string {
  const { fresh } = facts.orphans;
  return [fresh > 0 ? `${count(fresh)} new` : '', orphanParts(summary, facts)].filter((part) => part !== '').join(', ');
}

/** `3 invalid, 2 ambiguous` */
function needing(rows: Summary['rows']): string {
  const kinds = OUTCOMES.filter((kind) => !GOOD_OUTCOMES.has(kind) && kind !== 'not_attempted' && rows[kind] > 0);
  return kinds
    .map((kind) => `${count(rows[kind])} ${outcomeWords(kind, false, 'reconcile').label.toLowerCase()}`)
    .join(', ');
}
