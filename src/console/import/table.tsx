import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { Table, TableOptions } from '../../api/schema.js';
import { Fault } from '../app/faults.js';
import { jobsQuery } from '../app/queries.js';
import { counted, number } from '../kit/format.js';
import { Button, Card, Choose, Notice, Prose, Skeleton } from '../kit/parts.js';

const ENCODINGS = [
  'utf-8',
  'windows-1252',
  'iso-8859-1',
  'iso-8859-15',
  'windows-1250',
  'windows-1251',
  'macintosh',
  'shift_jis',
  'utf-16le',
  'utf-16be',
];
const DELIMITERS: Readonly<Record<string, string>> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'vertical bar',
};

/** What was found in the file: the first rows, and how it is read, which can be said otherwise at once. */
export function TableStep({
  table,
  error,
  source,
  onSource,
  onColumns,
  onJob,
  busy,
  refused,
}: {
  table: Table | undefined;
  error: unknown;
  source: TableOptions;
  onSource: (source: TableOptions) => void;
  onColumns: () => void;
  onJob: (name: string) => void;
  busy: boolean;
  refused: ReactNode;
}) {
  const change = (next: TableOptions) => onSource({ ...source, ...next });
  const isChanged = Object.keys(source).length > 0;
  return (
    <>
      {refused}
      <div className="line wide">
        <Button
          look="primary"
          icon="next"
          autoFocus
          why={table ? undefined : 'No table was found yet.'}
          onClick={onColumns}
        >
          {table ? `Match ${counted(table.headings.length, 'column')}` : 'Match the columns'}
        </Button>
        <SavedJob onJob={onJob} busy={busy} />
      </div>
      <Card title="How it is read">
        <div className="stack">
          <div className="fields">
            {table && table.sheets.length > 1 && (
              <Choose
                label="Sheet"
                value={table.sheet ?? ''}
                options={table.sheets.map((name) => [name, name])}
                onChoose={(sheet) => change({ sheet })}
              />
            )}
            {(table || isChanged) && (
              <HeadingRow
                row={source.header_row ?? table?.header_row ?? 'none'}
                onChoose={(header_row) => change({ header_row })}
              />
            )}
            {table?.encoding != null && (
              <Choose
                label="Encoding"
                value={table.encoding}
                options={[...new Set([table.encoding, ...ENCODINGS])].map((name) => [name, name])}
                onChoose={(encoding) => change({ encoding })}
              />
            )}
            {table?.delimiter != null && (
              <Choose
                label="Between cells"
                value={table.delimiter}
                options={Object.entries({ [table.delimiter]: `"${table.delimiter}"`, ...DELIMITERS })}
                onChoose={(delimiter) => change({ delimiter })}
              />
            )}
            {isChanged && (
              <Button look="quiet" onClick={() => onSource({})}>
                As it was detected
              </Button>
            )}
          </div>
          {table && table.evidence.length > 0 && (
            <ul className="evidence small soft">
              {table.evidence.map((line) => (
                <li key={line}>
                  <Prose>{line}</Prose>
                </li>
              ))}
            </ul>
          )}
          {table?.warnings.map((line) => (
            <Notice key={line} tone="warn">
              <p className="wrap">
                <Prose>{line}</Prose>
              </p>
            </Notice>
          ))}
        </div>
      </Card>
      {error ? <Fault error={error} /> : table ? <FirstRows table={table} /> : <Skeleton what="the table" lines={8} />}
    </>
  );
}

function FirstRows({ table: { headings, first } }: { table: Table }) {
  return (
    <Card title="The first rows" flush>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached with the keyboard */}
      <section className="first-rows" tabIndex={0} aria-label="Table">
        <table className="first">
          <thead>
            <tr>
              <th className="num">Row</th>
              {headings.map((heading) => (
                <th key={heading}>
                  <bdi>{heading}</bdi>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {first.map(({ row, cells }) => (
              <tr key={row}>
                <td className="num soft">{number(row)}</td>
                {headings.map((heading, column) => (
                  <td key={heading} className="cut" title={cells[column]}>
                    <bdi>{cells[column]}</bdi>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {first.length === 0 && <p className="empty soft">There are no rows below the heading.</p>}
      </section>
    </Card>
  );
}

/** Headings stand near the top; a row further down is typed. */
const NEAR_THE_TOP = 15;

function HeadingRow({ row, onChoose }: { row: number | 'none'; onChoose: (row: number | 'none') => void }) {
  const rows = [
    ...new Set([...Array.from({ length: NEAR_THE_TOP }, (_, at) => at + 1), ...(row === 'none' ? [] : [row])]),
  ];
  return (
    <Choose
      label="Headings"
      value={String(row)}
      options={[...rows.map((n) => [String(n), `in row ${n}`] as const), ['none', 'none: columns go by letters']]}
      onChoose={(chosen) => onChoose(chosen === 'none' ? 'none' : Number(chosen))}
    />
  );
}

function SavedJob({ onJob, busy }: { onJob: (name: string) => void; busy: boolean }) {
  const { data } = useQuery(jobsQuery);
  const [params] = useSearchParams();
  const [chosen, setChosen] = useState(params.get('job') ?? '');
  const jobs = data?.jobs.filter(({ kind }) => kind === 'import') ?? [];
  if (jobs.length === 0) return null;
  return (
    <span className="line">
      <span className="soft">or with a saved job</span>
      <select
        className="input"
        aria-label="Saved job"
        value={chosen}
        onChange={({ target }) => setChosen(target.value)}
      >
        <option value="">Choose…</option>
        {jobs.map(({ name, resource }) => (
          <option key={name} value={name}>
            {name} ({resource})
          </option>
        ))}
      </select>
      {chosen !== '' && (
        <Button busy={busy} onClick={() => onJob(chosen)}>
          Check with {chosen}
        </Button>
      )}
    </span>
  );
}
