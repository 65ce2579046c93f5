import { type ComponentProps, Fragment } from 'react';
import type { Field as FieldOf, Resource, Suggestion } from '../../api/schema.js';
import { CREATABLE, type Creatable } from '../../model/resource-names.js';
import { ActionError } from '../app/faults.js';
import { fieldChoices, labelOf, useFields, ValueInput } from '../app/fields.js';
import { Combo } from '../kit/choices.js';
import { counted, percent } from '../kit/format.js';
import { Button, Card, Choose, Field, Prose, submitting, Warnings } from '../kit/parts.js';
import { toast } from '../kit/toast.js';
import {
  constantIn,
  fieldIn,
  type Job,
  keyIn,
  optionsIn,
  unfilledFields,
  valueAt,
  withConstant,
  withField,
  withKey,
  withMembers,
  withOption,
} from './draft.js';
import type { Importing } from './state.js';

type Column = Suggestion['columns'][number];

interface MatchingProps {
  readonly of: Importing;
  /** As it is now, and as it was suggested. */
  readonly job: Job;
  readonly suggested: Job;
  readonly suggestion: Suggestion;
  readonly resource: Resource;
}

/** Each column of the file with the field it goes to; what a record must have and no column gives; what tells records apart. */
export function ColumnsStep({ resource: own, ...rest }: MatchingProps) {
  const resource = { ...own, fields: useFields(own) };
  const matching = { ...rest, resource };
  const { of, job, suggestion } = rest;
  const { setJob, setTable, resources, check } = of;
  const needed = unfilledFields(job, suggestion, resource.fields);
  const unset = needed.filter(({ name }) => constantIn(job, name) === '');
  const key = keyIn(job, suggestion);
  const isUsed = ({ heading }: Column) => fieldIn(job, heading) !== null;
  const { columns } = suggestion;
  const used = columns.filter(isUsed);
  const why =
    used.length === 0
      ? 'No column goes to a field yet.'
      : key === undefined
        ? 'Say first what tells one record from another.'
        : unset.length > 0
          ? `Say first what stands in ${unset.map(({ label }) => label).join(', ')}.`
          : undefined;
  return (
    <>
      <div className="fields">
        <Choose
          label="The rows are"
          value={resource.name}
          options={resources.filter(({ imported }) => imported).map(({ name }) => [name, `${name}s`])}
          onChoose={(name) => setTable({ resource: name })}
        />
        <KeyChoice {...matching} />
      </div>
      {needed.length > 0 && (
        <Card title={`A new ${resource.name} needs ${counted(needed.length, 'value')} that no column gives`}>
          <form className="fields" {...submitting(() => why === undefined && check.mutate({}))}>
            {needed.map((field, at) => (
              <Field key={field.name} label={field.label} hint="the same in every row">
                {(props) => (
                  <ValueInput
                    {...props}
                    field={field}
                    type={field.type === 'date' ? 'date' : 'text'}
                    autoFocus={at === 0 && key !== undefined && unset.length > 0}
                    value={constantIn(job, field.name)}
                    onChange={(value) => setJob(withConstant(job, field.name, value))}
                  />
                )}
              </Field>
            ))}
            <button type="submit" hidden />
          </form>
        </Card>
      )}
      <Warnings of={suggestion.warnings} />
      <ActionError error={check.error} />
      <div className="line wide">
        <Button
          look="primary"
          icon="next"
          autoFocus={why === undefined}
          change={check}
          why={why}
          order={{}}
          word={`Check ${counted(suggestion.rows, 'row')}`}
        />
        <span className="soft">Nothing is written by this: it says what would happen.</span>
      </div>
      <Card title={`${used.length} of ${counted(columns.length, 'column')} go in`} flush>
        <ul className="columns">
          {[...used, ...columns.filter((column) => !isUsed(column))].map((column) => (
            <ColumnLine key={column.heading} {...matching} found={column} />
          ))}
        </ul>
      </Card>
    </>
  );
}

type Options = ComponentProps<typeof Choose>['options'];
const BLANK_OPTIONS: Options = Object.entries({ keep: 'blank keeps the value', clear: 'blank empties it' });
const OVERFLOW_OPTIONS: Options = Object.entries({ reject: 'too long: leave the row out', cut: 'too long: cut it' });
/** What becomes of a row whose name the service lacks; for these records a name is enough to create one. */
const missingOptions = (one: Creatable): Options =>
  Object.entries({ reject: `unknown ${one}: leave the row out`, create: `unknown ${one}: create it` });
const DATE_OPTIONS: Options = Object.entries({
  '': 'as found',
  'dd/MM/yyyy': '31/12/2026',
  'MM/dd/yyyy': '12/31/2026',
  'dd.MM.yyyy': '31.12.2026',
  'yyyy-MM-dd': '2026-12-31',
});

function ColumnLine({ of, job, suggested, suggestion, resource, found }: MatchingProps & { found: Column }) {
  const { heading, samples, confidence, alternatives, evidence, remarks, why } = found;
  const field = fieldIn(job, heading);
  const asSuggested = field === found.field;
  const target = resource.fields.find(({ name }) => name === field);
  const creatable = CREATABLE.find((one) => one === target?.of);
  const likely = alternatives.map(({ field: name, why: hint }) => {
    return { value: name, label: labelOf(resource.fields, name), group: 'It may be', hint };
  });
  const reasons = asSuggested ? (field === null ? [why ?? ''] : [...evidence, ...remarks]) : ['as you chose'];
  const { blank, dates, overflow } = optionsIn(job, heading);
  const { dates: datesFound } = optionsIn(suggested, heading);
  const missing = valueAt(job, 'references', 'missing') === 'create' ? 'create' : 'reject';
  const mayFail = found.converts !== 1 || !asSuggested;
  const set = of.setJob;
  const option = (to: ReturnType<typeof optionsIn>) => set(withOption(job, heading, to));
  const choose = (value: string) => {
    for (const other of value === '' ? [] : suggestion.columns) {
      if (other !== found && fieldIn(job, other.heading) === value)
        toast(`${other.heading} is not imported now: ${heading} gives ${labelOf(resource.fields, value)}.`);
    }
    set(withField(job, suggested, heading, value === '' ? null : value));
  };
  const choice = (what: string, value: unknown, options: Options, onChoose: (value: string) => void) => {
    const label = `${what} of ${heading}`;
    return <Choose bare className="input quiet" {...{ label, value: String(value), options, onChoose }} />;
  };
  return (
    <li className={field === null ? 'unmapped' : ''}>
      <div className="from">
        <strong dir="auto" className="wrap">
          {heading}
        </strong>
        <span className="small soft cut">
          {samples.slice(0, 3).map((sample, at) => (
            <Fragment key={at}>
              {at > 0 && ' · '}
              <bdi>{sample}</bdi>
            </Fragment>
          ))}
        </span>
      </div>
      <div className="to">
        <Combo
          label={`Field for ${heading}`}
          value={field ?? ''}
          choices={[{ value: '', label: 'Not imported' }, ...likely, ...fieldsToChoose(resource.fields)]}
          onChoose={choose}
          empty="Not imported"
        />
        {field !== null && choice('Blank cells', blank ?? 'keep', BLANK_OPTIONS, (to) => option({ blank: to }))}
        {creatable &&
          (mayFail || missing === 'create') &&
          choice('Unknown names', missing, missingOptions(creatable), (to) =>
            set(withMembers(job, 'references', { missing: to })),
          )}
        {target?.type === 'text' &&
          (mayFail || overflow !== undefined) &&
          choice('Long texts', overflow ?? 'reject', OVERFLOW_OPTIONS, (to) => option({ overflow: to }))}
        {target?.type === 'date' &&
          choice('Dates', String(dates) === String(datesFound) ? '' : dates, DATE_OPTIONS, (format) =>
            option({ dates: format === '' ? datesFound : [format] }),
          )}
      </div>
      <div className="why small">
        {field !== null && <Converts found={found} asSuggested={asSuggested} cuts={overflow === 'cut'} />}
        <span className="soft wrap">
          {field !== null && asSuggested && confidence === 'medium' && <strong className="toned warn">likely: </strong>}
          <Prose>{reasons.filter(Boolean).join('; ')}</Prose>
        </span>
      </div>
    </li>
  );
}

/** How much of the column is a value of the field; never as good where `cuts`: long texts lose their ends. */
function Converts({ found, asSuggested, cuts }: { found: Column; asSuggested: boolean; cuts: boolean }) {
  const { converts, blank } = found;
  if (!asSuggested || converts === null) return <span className="soft">The check says what converts.</span>;
  const tone = converts === 1 && !cuts ? 'good' : converts > 0.9 ? 'warn' : 'bad';
  return (
    <span className={`line ${tone}`}>
      <span className="parts share" aria-hidden="true">
        <i style={{ width: `${converts * 100}%` }} />
      </span>
      <span className="toned">
        {percent(converts)} converts{cuts && ', long texts are cut'}
      </span>
      {blank > 0 && <span className="soft">{percent(blank)} blank</span>}
    </span>
  );
}

/** Required ones first, then by what they are about. */
function fieldsToChoose(fields: readonly FieldOf[]) {
  const written = fields.filter((field) => field.written);
  const requiredFirst = written.toSorted((a, b) => Number(b.required) - Number(a.required));
  return fieldChoices(requiredFirst, ({ required, group }) => (required ? 'Required' : group));
}

const NONE = '\u0000none';

function KeyChoice({ of: { setJob }, job, suggestion, resource }: MatchingProps) {
  const key = keyIn(job, suggestion);
  const fields = suggestion.columns.flatMap(({ heading }) => fieldIn(job, heading) ?? []);
  const { field, blank, repeats } = suggestion.key ?? { field: undefined, blank: 0, repeats: 0 };
  const hint =
    key === undefined
      ? 'No column does by itself: choose.'
      : key.length === 0
        ? 'The same file twice would make every record twice; it is refused.'
        : key.length === 1 && key[0] === field
          ? `${blank === 0 ? 'No blank cell' : counted(blank, 'blank cell')}; ${repeats === 0 ? 'no value stands in it twice' : counted(repeats, 'row repeats a value', 'rows repeat a value')}.`
          : 'A row with the key of a record updates it; others are created.';
  const labels = (names: readonly string[]) => names.map((name) => labelOf(resource.fields, name)).join(' and ');
  const chosen = key === undefined ? '' : key.length === 0 ? NONE : key.join();
  return (
    <Choose
      label={`What tells one ${resource.name} from another`}
      hint={hint}
      autoFocus={key === undefined}
      value={chosen}
      options={[
        ...(key === undefined ? [['', 'Choose…'] as const] : []),
        ...(key && key.length > 1 ? [[chosen, labels(key)] as const] : []),
        ...[...new Set([...fields, ...(key?.length === 1 ? key : [])])].map((name) => [name, labels([name])] as const),
        [NONE, 'nothing: every row is a new record'],
      ]}
      onChoose={(value) => setJob(withKey(job, value === NONE ? null : value))}
    />
  );
}
