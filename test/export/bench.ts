import { afterEach } from 'vitest';
import type { Exportable, ExportColumn, ExportContext, ExportRecord } from '../../src/export/column.js';
import { exportRecord, recordHabits } from '../../src/export/column.js';
import { exportColumns } from '../../src/export/columns.js';
import { extraColumns } from '../../src/export/extra-columns.js';
import type { Naming } from '../../src/export/names.js';
import { parseTemplate } from '../../src/resources/custom.js';
import type { CustomTemplate, DateOrder, Lexicon } from '../../src/resources/spec.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { walkList } from '../../src/service/lists/walk-list.js';
import type { Json, Readable, Service } from '../../src/service/port.js';
import { openService } from '../../src/service/service.js';

/** A sandbox, the service over HTTP, and what an export makes of its records. */
export interface Bench {
  readonly sandbox: Sandbox;
  readonly service: Service;
  /** Every record of a list. */
  read(resource: Readable): Promise<Json[]>;
  context(): Promise<ExportContext>;
  naming(resource: Exportable): Promise<Naming>;
}

export interface Sheet {
  readonly columns: readonly ExportColumn[];
  readonly records: readonly ExportRecord[];
  readonly rows: readonly (readonly string[])[];
  /** The cell of the n-th record. */
  cell(row: number, heading: string): string;
}

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

export async function openBench(options: SandboxOptions = {}): Promise<Bench> {
  const sandbox = await startSandbox({ seed: 'demo', token: 'test-token', ...options });
  const service = openService({
    baseUrl: sandbox.url,
    company: 1,
    token: { kind: 'token', token: 'test-token' },
    maxInFlight: 8,
  });
  open.push(async () => {
    await service.close();
    await sandbox.close();
  });
  const read = async (resource: Readable) => {
    const records: Json[] = [];
    for await (const page of walkList(service, resource)) records.push(...page.records);
    return records;
  };
  const context = async () =>
    contextOf(
      (await read('custom-field-template')).flatMap((json) => parseTemplate(json) ?? []),
      (await read('custom-form-template')).flatMap((json) => parseTemplate(json) ?? []),
    );
  return {
    sandbox,
    service,
    read,
    context,
    async naming(resource) {
      const known = await context();
      return { ...known, resource, columns: exportColumns(resource, known) };
    },
  };
}

export interface Habit {
  dateOrder?: DateOrder | undefined;
}

/** Templates and forms as they are listed; hardware model 71 is known. */
export function contextOf(
  templates: readonly CustomTemplate[] = [],
  forms: readonly CustomTemplate[] = [],
): ExportContext & { readonly lexicon: Lexicon & Habit } {
  const lexicon: Lexicon & Habit = {
    template: (id) => templates.find((one) => one.id === id),
    form: (id) => forms.find((one) => one.id === id),
    idOf: (target, name) => (target === 'hardware-model' && name === 'PowerEdge R740' ? 71 : undefined),
    nameOf: () => undefined,
  };
  return { lexicon, templates, forms };
}

/** Everything an export does with records, in its order. */
export function sheetOf(resource: Exportable, jsons: readonly Json[], context: ExportContext): Sheet {
  const known = exportColumns(resource, context);
  const habits = recordHabits(resource);
  for (const json of jsons) habits.observe(json);
  Object.assign(context.lexicon, { dateOrder: habits.conclude().dateOrder });
  const extra = extraColumns(resource, known, context);
  const records = jsons.map((json) => exportRecord(resource, json, context));
  for (const { json, read } of records) extra.see(json, read);
  const columns = [...known, ...extra.columns()];
  const rows = records.map((record) => columns.map((column) => column.text(record)));
  return {
    columns,
    records,
    rows,
    cell(row, heading) {
      const at = columns.findIndex((column) => column.heading === heading);
      if (at < 0)
        throw new Error(`there is no column ${heading}: ${columns.map((column) => column.heading).join(' | ')}`);
      return rows[row]?.[at] ?? '';
    },
  };
}

export interface Leaf {
  /** Keys and positions on the way. */
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Every value in a record that holds something. */
export function leavesOf(json: unknown, path: readonly string[] = []): readonly Leaf[] {
  if (json === null || json === undefined || json === '') return [];
  if (typeof json !== 'object' || 'isLosslessNumber' in json) return [{ path, value: json }];
  return Object.entries(json).flatMap(([key, value]) => leavesOf(value, [...path, key]));
}
