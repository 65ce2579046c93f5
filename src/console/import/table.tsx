import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import type { Table, TableOptions } from '../../api/schema.js';
import { Fault, Refused } from '../app/faults.js';
import { jobsQuery } from '../app/queries.js';
import { counted, number } from '../kit/format.js';
import { Button, Card, Choose, Prose, Skeleton, Warnings } from '../kit/parts.js';
import { withSource } from './draft.js';
import type { Importing } from './state.js';

const ENCODINGS = [
  ...['utf-8', 'windows-1252', 'iso-8859-1', 'iso-8859-15', 'windows-1250', 'windows-1251'],
  ...['macintosh', 'shift_jis', 'utf-16le', 'utf-16be'],
];
const DELIMITERS: Readonly<Record<string, string>> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'vertical bar',
};
/** Headings stand near the top. */
const NEAR_THE_TOP = Array.from({ length: 15 }, (_, at) => String(at + 1));

const asOptions = (names: Iterable<string>) => [...new Set(names)].map((name) => [name, name] as const);

/** What was found in the file: the first rows, and how it is read, which can be said otherwise at once. */
export function TableStep({ of }: { of: Importing }) {
  const { draft, table, check, change, go, hrefOf } = of;
  const found = table.data;
  return (
    <>
      <Refused error={check.error} />
      <div className="line wide">
        <Button
          look="primary"
          icon="next"
          autoFocus
          why={found ? undefined : 'No table was found yet.'}
          onClick={() => go(hrefOf('columns'))}
        >
          {found ? `Match ${counted(found.headings.length, 'column')}` : 'Match the columns'}
        </Button>
        <SavedJob busy={check.isPending} onJob={(job) => check.mutate({ job })} />
      </div>
      <Card title="How it is read">
        <div className="stack">
          <HowRead
            table={found}
            source={draft.source}
            onSource={(source) => {
              change((now) => withSource(now, source));
              // What was checked was another table.
              go(hrefOf('table', { run: null, write: null }), { replace: true });
            }}
          />
          {found && found.evidence.length > 0 && (
            <ul className="evidence small soft">
              {found.evidence.map((line) => (
                <li key={line}>
                  <Prose>{line}</Prose>
                </li>
              ))}
            </ul>
          )}
          <Warnings of={found?.warnings} />
        </div>
      </Card>
      {found ? (
        <FirstRows table={found} />
      ) : table.error ? (
        <Fault error={table.error} />
      ) : (
        <Skeleton what="the table" lines={8} />
      )}
    </>
  );
}

function HowRead({
  table,
  source,
  onSource,
}: {
  table: Table | undefined;
  source: TableOptions;
  onSource: (source: TableOptions) => void;
}) {
  const change = (next: TableOptions) => onSource({ ...source, ...next });
  const isChanged = Object.keys(source).length > 0;
  const { sheets = [], sheet, encoding, delimiter } = table ?? {};
  const row = String(source.header_row ?? table?.header_row ?? 'none');
  return (
    <div className="fields">
      {sheets.length > 1 && (
        <Choose label="Sheet" value={sheet ?? ''} options={asOptions(sheets)} onChoose={(sheet) => change({ sheet })} />
      )}
      {(table || isChanged) && (
        <Choose
          label="Headings"
          value={row}
          options={[...new Set([...NEAR_THE_TOP, row, 'none'])].map((at) => [
            at,
            at === 'none' ? 'none: columns go by letters' : `in row ${at}`,
          ])}
          onChoose={(at) => change({ header_row: at === 'none' ? at : Number(at) })}
        />
      )}
      {encoding != null && (
        <Choose
          label="Encoding"
          value={encoding}
          options={asOptions([encoding, ...ENCODINGS])}
          onChoose={(encoding) => change({ encoding })}
        />
      )}
      {delimiter != null && (
        <Choose
          label="Between cells"
          value={delimiter}
          options={Object.entries({ [delimiter]: `"${delimiter}"`, ...DELIMITERS })}
          onChoose={(delimiter) => change({ delimiter })}
        />
      )}
      {isChanged && (
        <Button look="quiet" onClick={() => onSource({})}>
          As it was detected
        </Button>
      )}
    </div>
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

function SavedJob({ onJob, busy }: { onJob: (name: string) => void; busy: boolean }) {
  const { data } = useQuery(jobsQuery);
  const [params] = useSearchParams();
  const [chosen, setChosen] = useState(params.get('job') ?? '');
  const jobs = data?.jobs.filter(({ kind }) => kind === 'import') ?? [];
  if (jobs.length === 0) return null;
  return (
    <span className="line">
      <span className="soft">or with a saved job</span>
      <Choose
        bare
        label="Saved job"
        value={chosen}
        options={[['', 'Choose…'], ...jobs.map(({ name, resource }) => [name, `${name} (${resource})`] as const)]}
        onChoose={setChosen}
      />
      {chosen !== '' && (
        <Button busy={busy} onClick={() => onJob(chosen)}>
          Check with {chosen}
        </Button>
      )}
    </span>
  );
}
