import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import type { Table as Found, TableOptions } from '../../api/schema.js';
import { ApiError } from '../app/client.js';
import { ActionError, Pending } from '../app/faults.js';
import { jobsQuery, useWhyNot } from '../app/queries.js';
import { counted, number } from '../kit/format.js';
import { Button, ButtonLink, Card, Choose, Empty, Prose, Warnings } from '../kit/parts.js';
import { Table } from '../kit/table.js';
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
const HEADER_ROWS = [...Array.from({ length: 15 }, (_, at) => String(at + 1)), 'none'];

/** What was found in the file: the first rows, and how it is read, which can be said otherwise at once. */
export function TableStep({ of }: { of: Importing }) {
  const { name, table, check, go, hrefOf, source } = of;
  const { data: found, error } = table;
  const whyNot = useWhyNot('operator');
  // Where it was said how it is read, that can be said otherwise.
  if (!found && error instanceof ApiError && error.status === 422 && Object.keys(source).length === 0) {
    const another = <ButtonLink href="/import" word="Choose another file" />;
    return (
      <>
        <h1 className="wrap">
          <bdi>{name}</bdi> cannot be read
        </h1>
        <ActionError error={error} title="Why it cannot be read" more={another} />
      </>
    );
  }
  return (
    <>
      <h1 className="wrap">
        {found ? 'Is this the table of ' : 'Looking at '}
        <bdi>{name}</bdi>
        {found && '?'}
      </h1>
      <ActionError error={check.error} />
      <div className="line wide">
        <Button
          look="primary"
          icon="next"
          autoFocus
          why={whyNot ?? (found ? undefined : 'No table was found yet.')}
          onClick={() => go(hrefOf('columns'))}
          word={found ? `Match ${counted(found.headings.length, 'column')}` : 'Match the columns'}
        />
        <SavedJob of={of} />
      </div>
      <Card title="How it is read">
        <div className="stack">
          <ReadOptions of={of} />
          {found && found.evidence.length > 0 && (
            <ul className="evidence small soft">
              {found.evidence.map((line) => (
                <Prose key={line} as="li">
                  {line}
                </Prose>
              ))}
            </ul>
          )}
          <Warnings of={found?.warnings} />
        </div>
      </Card>
      {found ? <FirstRows table={found} /> : <Pending error={error} what="the table" />}
    </>
  );
}

function ReadOptions({ of: { source, table, setTable } }: { of: Importing }) {
  const { sheets = [], sheet, encoding, delimiter, header_row: row } = table.data ?? {};
  const choose = (
    label: string,
    name: keyof TableOptions,
    found: string | null | undefined,
    values: readonly string[],
    wordOf = (one: string) => one,
  ) => {
    const chosen = source[name]?.toString();
    if (chosen === undefined && found == null) return null;
    const first = chosen === undefined ? wordOf(found ?? '') : 'as it was detected';
    const others = chosen === undefined ? values.filter((one) => one !== found) : new Set([chosen, ...values]);
    const options = [['', first] as const, ...[...others].map((one) => [one, wordOf(one)] as const)];
    return <Choose label={label} value={chosen ?? ''} options={options} onChoose={(to) => setTable({ [name]: to })} />;
  };
  const rowWord = (at: string) => (at === 'none' ? 'none: columns go by letters' : `in row ${at}`);
  const delimiterWord = (one: string) => DELIMITERS[one] ?? `"${one}"`;
  return (
    <div className="fields">
      {sheets.length > 1 && choose('Sheet', 'sheet', sheet, sheets)}
      {choose('Headings', 'header_row', table.data && String(row ?? 'none'), HEADER_ROWS, rowWord)}
      {choose('Encoding', 'encoding', encoding, ENCODINGS)}
      {choose('Between cells', 'delimiter', delimiter, Object.keys(DELIMITERS), delimiterWord)}
    </div>
  );
}

function FirstRows({ table: { headings, first } }: { table: Found }) {
  if (first.length === 0) return <Empty title="There are no rows below the heading" />;
  return (
    <Card title="The first rows" flush>
      <Table
        low
        label="Table"
        rows={first}
        keyOf={({ row }) => row}
        columns={[
          { head: 'Row', of: ({ row }) => <span className="soft">{number(row)}</span> },
          ...headings.map((head, column) => ({
            head,
            of: ({ cells }: Found['first'][number]) => (
              <div className="cut sample" title={cells[column]}>
                <bdi>{cells[column]}</bdi>
              </div>
            ),
          })),
        ]}
      />
    </Card>
  );
}

function SavedJob({ of: { check } }: { of: Importing }) {
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
      {chosen !== '' && <Button change={check} order={{ saved: chosen }} word={`Check with ${chosen}`} />}
    </span>
  );
}
