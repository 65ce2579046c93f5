import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Field as FieldOf, Resource, Suggestion } from '../../api/schema.js';
import { namesQuery } from '../app/queries.js';
import { type Choice, Combo } from '../kit/choices.js';
import { counted, percent } from '../kit/format.js';
import { Button, Card, Field, Notice, Prose } from '../kit/parts.js';
import { type Draft, keyOf, mapping, missing, withField } from './draft.js';

/** Each column of the file with the field it goes to; what a record must have and no column gives; what tells records apart. */
export function ColumnsStep({
  draft,
  suggestion,
  resource,
  resources,
  onChange,
  onResource,
  onCheck,
  busy,
  refused,
}: {
  draft: Draft;
  suggestion: Suggestion;
  resource: Resource;
  resources: readonly Resource[];
  onChange: (draft: Draft) => void;
  onResource: (name: string) => void;
  onCheck: () => void;
  busy: boolean;
  refused: ReactNode;
}) {
  const columns = mapping(draft, suggestion);
  const wanted = missing(draft, suggestion, resource.fields);
  const open = wanted.filter(({ name }) => !draft.constants[name]);
  const key = keyOf(draft, suggestion);
  const used = columns.filter(({ field }) => field !== null).length;
  const why =
    used === 0
      ? 'No column goes to a field yet.'
      : key === undefined
        ? 'Say first what tells one record from another.'
        : open.length > 0
          ? `Say first what stands in ${open.map(({ label }) => label).join(', ')}.`
          : undefined;
  const choices = fieldChoices(resource.fields);
  const inOrder = [...columns.filter(({ field }) => field !== null), ...columns.filter(({ field }) => field === null)];
  return (
    <>
      <div className="fields">
        <Field label="The rows are">
          {(props) => (
            <select
              {...props}
              className="input"
              value={resource.name}
              onChange={({ target }) => onResource(target.value)}
            >
              {resources
                .filter(({ imported }) => imported)
                .map(({ name }) => (
                  <option key={name} value={name}>
                    {name}s
                  </option>
                ))}
            </select>
          )}
        </Field>
        <KeyChoice draft={draft} suggestion={suggestion} resource={resource} onChange={onChange} />
      </div>
      {wanted.length > 0 && (
        <Card title={`A new ${resource.name} needs ${counted(wanted.length, 'value')} that no column gives`}>
          <form
            className="fields"
            onSubmit={(event) => {
              event.preventDefault();
              if (why === undefined) onCheck();
            }}
          >
            {wanted.map((field, at) => (
              <Constant
                key={field.name}
                autoFocus={at === 0 && key !== undefined && open.length > 0}
                field={field}
                value={draft.constants[field.name] ?? ''}
                onChange={(value) => onChange({ ...draft, constants: { ...draft.constants, [field.name]: value } })}
              />
            ))}
            <button type="submit" hidden />
          </form>
        </Card>
      )}
      {suggestion.warnings.map((line) => (
        <Notice key={line} tone="warn">
          <p>
            <Prose>{line}</Prose>
          </p>
        </Notice>
      ))}
      {refused}
      <div className="line wide">
        <Button look="primary" icon="next" autoFocus={why === undefined} busy={busy} why={why} onClick={onCheck}>
          Check {counted(suggestion.rows, 'row')}
        </Button>
        <span className="soft">Nothing is written by this: it says what would happen.</span>
      </div>
      <Card title={`${used} of ${counted(columns.length, 'column')} go in`} flush>
        <ul className="columns">
          {inOrder.map((column) => (
            <Column
              key={column.heading}
              {...{ column, draft, suggestion, choices, onChange }}
              type={resource.fields.find(({ name }) => name === column.field)?.type}
            />
          ))}
        </ul>
      </Card>
    </>
  );
}

function Column({
  column: { heading, field, asFound },
  type,
  draft,
  suggestion,
  choices,
  onChange,
}: {
  column: ReturnType<typeof mapping>[number];
  type: FieldOf['type'] | undefined;
  draft: Draft;
  suggestion: Suggestion;
  choices: readonly Choice[];
  onChange: (draft: Draft) => void;
}) {
  const found = suggestion.columns.find((one) => one.heading === heading)!;
  const near = found.alternatives.map(({ field: name, why }) => ({
    value: name,
    label: choices.find(({ value }) => value === name)?.label ?? name,
    group: 'It may be',
    hint: why,
  }));
  const others = choices.filter(({ value }) => !near.some((one) => one.value === value));
  const reasons = asFound
    ? field === null
      ? [found.why ?? '']
      : [...found.evidence, ...found.remarks]
    : ['as you chose'];
  const set = (name: 'blanks' | 'dates', value: string) =>
    onChange({ ...draft, [name]: { ...draft[name], [heading]: value } });
  return (
    <li className={field === null ? 'unmapped' : ''}>
      <div className="from">
        <strong className="wrap">
          <bdi>{heading}</bdi>
        </strong>
        <span className="small soft samples">
          {found.samples.slice(0, 3).map((sample, at) => (
            <bdi key={at} className="cut">
              {sample}
            </bdi>
          ))}
        </span>
      </div>
      <div className="to">
        <Combo
          label={`Field for ${heading}`}
          value={field ?? ''}
          choices={[{ value: '', label: 'Not imported' }, ...near, ...others]}
          onChoose={(value) => onChange(withField(draft, suggestion, heading, value === '' ? null : value))}
          empty="Not imported"
        />
        {field !== null && (
          <select
            className="input"
            aria-label={`Blank cells of ${heading}`}
            value={draft.blanks[heading] ?? 'keep'}
            onChange={({ target }) => set('blanks', target.value)}
          >
            <option value="keep">blank: keep</option>
            <option value="clear">blank: empty</option>
          </select>
        )}
        {type === 'date' && (
          <select
            className="input"
            aria-label={`Dates of ${heading}`}
            value={draft.dates[heading] ?? ''}
            onChange={({ target }) => set('dates', target.value)}
          >
            <option value="">as found</option>
            <option value="dd/MM/yyyy">31/12/2026</option>
            <option value="MM/dd/yyyy">12/31/2026</option>
            <option value="dd.MM.yyyy">31.12.2026</option>
            <option value="yyyy-MM-dd">2026-12-31</option>
          </select>
        )}
      </div>
      <div className="why small">
        {field !== null && <Converts found={found} asFound={asFound} />}
        <span className="soft wrap">
          {field !== null && asFound && found.confidence === 'medium' && (
            <strong className="toned warn">likely: </strong>
          )}
          <Prose>{reasons.filter(Boolean).join('; ')}</Prose>
        </span>
      </div>
    </li>
  );
}

/** How much of the column is a value of the field. */
function Converts({ found: { converts, blank }, asFound }: { found: Suggestion['columns'][number]; asFound: boolean }) {
  if (!asFound || converts === null) return <span className="soft">The check says what converts.</span>;
  const tone = converts === 1 ? 'good' : converts > 0.9 ? 'warn' : 'bad';
  return (
    <span className={`line ${tone}`}>
      <span className="parts share" aria-hidden="true">
        <i style={{ width: `${converts * 100}%` }} />
      </span>
      <span className="toned">{percent(converts)} converts</span>
      {blank > 0 && <span className="soft">{percent(blank)} blank</span>}
    </span>
  );
}

/** Required ones first, then by what they are about. */
function fieldChoices(fields: readonly FieldOf[]): Choice[] {
  const written = fields.filter((field) => field.written);
  const choice = (field: FieldOf, group: string) => ({
    value: field.name,
    label: field.label,
    group,
    hint: field.name,
  });
  return [
    ...written.filter(({ required }) => required).map((field) => choice(field, 'Required')),
    ...written.filter(({ required }) => !required).map((field) => choice(field, field.group)),
  ];
}

const NONE = '\u0000none';

function KeyChoice({
  draft,
  suggestion,
  resource,
  onChange,
}: {
  draft: Draft;
  suggestion: Suggestion;
  resource: Resource;
  onChange: (draft: Draft) => void;
}) {
  const key = keyOf(draft, suggestion);
  const label = (name: string) => resource.fields.find((field) => field.name === name)?.label ?? name;
  const fields = mapping(draft, suggestion).flatMap(({ field }) => (field === null ? [] : [field]));
  const measured = suggestion.key && key?.length === 1 && key[0] === suggestion.key.field ? suggestion.key : undefined;
  const hint =
    key === undefined
      ? 'No column does by itself: choose.'
      : key.length === 0
        ? 'The same file twice would make every record twice; it is refused.'
        : measured
          ? `${counted(measured.blank, 'blank cell')}, ${counted(measured.repeats, 'repeat')}.`
          : 'A row with the key of a record updates it; others are created.';
  return (
    <Field label={`What tells one ${resource.name} from another`} hint={hint}>
      {(props) => (
        <select
          {...props}
          className="input"
          // biome-ignore lint/a11y/noAutofocus: it is what stands in the way of the next step
          autoFocus={key === undefined}
          value={key === undefined ? '' : key.length === 0 ? NONE : key.join('\u0001')}
          onChange={({ target }) =>
            onChange({ ...draft, key: target.value === NONE ? [] : target.value.split('\u0001') })
          }
        >
          {key === undefined && <option value="">Choose…</option>}
          {[...new Set([...fields, ...(key ?? [])])].map((name) => (
            <option key={name} value={name}>
              {label(name)}
            </option>
          ))}
          <option value={NONE}>nothing: every row is a new record</option>
        </select>
      )}
    </Field>
  );
}

function Constant({
  field,
  value,
  autoFocus,
  onChange,
}: {
  field: FieldOf;
  value: string;
  autoFocus: boolean;
  onChange: (value: string) => void;
}) {
  const { data } = useQuery({ ...namesQuery(field.of ?? '', value), enabled: field.of !== null });
  const names = field.choices.length > 0 ? field.choices : (data?.names ?? []);
  return (
    <Field label={field.label} hint="the same in every row">
      {(props) => (
        <>
          <input
            {...props}
            // biome-ignore lint/a11y/noAutofocus: it is what stands in the way of the next step
            autoFocus={autoFocus}
            className="input"
            list={`${props.id}-names`}
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
          <datalist id={`${props.id}-names`}>
            {names.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
