import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExportColumn } from '../../src/export/column.js';
import { exportColumns } from '../../src/export/columns.js';
import {
  editableColumns,
  editableJob,
  loadReferenceTexts,
  ReferenceCollector,
  withLastWritten,
} from '../../src/export/editable.js';
import { extraColumns } from '../../src/export/extra-columns.js';
import { writeTable } from '../../src/files/table-write.js';
import { decodeFields } from '../../src/pipeline/rows.js';
import { readRecord } from '../../src/resources/read.js';
import { ConventionSurvey } from '../../src/resources/read-conventions.js';
import { resourceSpec } from '../../src/resources/registry.js';
import type { ResourceName } from '../../src/resources/spec.js';
import { createLexicon, learnNames, openLists, serviceOptions } from '../../src/runs/run/open-service.js';
import { serviceName } from '../../src/service/address.js';
import { openKnownIds } from '../../src/service/known-ids.js';
import type { Json } from '../../src/service/port.js';
import { openService } from '../../src/service/service.js';
import type { Desk } from '../support/desk.js';

/** An exported file in memory, to be changed and written. */
export interface Exported {
  readonly columns: readonly ExportColumn[];
  readonly rows: string[][];
  readonly job: (format: Format) => string;
  /** The cell of the record with this id under a heading or field. */
  cell(id: number, name: string): string;
  put(id: number, name: string, text: string): void;
}

export type Format = 'csv' | 'xlsx' | 'ndjson';
export const FORMATS: readonly Format[] = ['csv', 'xlsx', 'ndjson'];

/** Reads a resource as an export does, through HTTP and with what the desk's home knows. */
export async function exportForEditing(
  desk: Desk,
  resource: ResourceName,
  options: { readonly env?: Record<string, string> } = {},
): Promise<Exported> {
  const spec = resourceSpec(resource);
  const settings = desk.settings(options.env);
  const service = openService({ ...serviceOptions(settings, 1), mayWrite: () => false });
  await mkdir(settings.home, { recursive: true });
  const known = openKnownIds(settings.home, serviceName(settings.apiUrl ?? '', 1));
  try {
    const dir = await mkdtemp(join(desk.dir, 'lists-'));
    const readAll = openLists(
      service,
      (list) => join(dir, `${list}.ndjson`),
      (list, records) => {
        for (const record of records) learnNames(list, record, known);
      },
    );
    const lexicon = createLexicon(known, readAll);
    await lexicon.loadTemplates();
    await lexicon.loadForms();
    const { templates, forms } = lexicon;
    const records: Json[] = [];
    const survey = new ConventionSurvey(spec);
    if (resource === 'customer') {
      await readAll('contract', () => undefined);
      const ids = [...known.names('customer')].flatMap((name) => known.ids('customer', name));
      records.push(...ids.map((id) => ({ id, name: known.nameOf('customer', id) })));
    } else {
      await readAll(resource, (page) => {
        records.push(...page);
        for (const record of page) survey.observe(record);
      });
    }
    lexicon.useHabits(survey.conclude());
    const first = exportColumns(resource, { lexicon, templates, forms });
    const extras = extraColumns(resource, first, { lexicon, templates, forms });
    const names = new ReferenceCollector(spec);
    const read = records.map((json) => {
      extras.see(json);
      const written = resource === 'customer' ? known.lastWritten('customer', Number(json['id'])) : undefined;
      const one = written
        ? { id: Number(json['id']), fields: decodeFields(written), losses: [], unknown: [] }
        : withLastWritten(resource, readRecord(spec, json, lexicon), known.lastWritten(resource, Number(json['id'])));
      names.add(one);
      return { json: written ? { id: json['id'] } : json, read: one };
    });
    const references = await loadReferenceTexts(names.names, { service, known, readAll });
    const columns = editableColumns(resource, [...first, ...extras.columns()], { templates, forms }, references);
    const rows = read.map((record) => columns.map((column) => column.text(record)));
    const at = (id: number, name: string): [string[], number] => {
      const row = rows.find(([first]) => first === String(id));
      const index = columns.findIndex((column) => column.heading === name || column.field === name);
      if (!row || index < 0) throw new Error(`no cell ${name} of ${id}`);
      return [row, index];
    };
    await known.flush();
    return {
      columns,
      rows,
      job: (format) =>
        editableJob(resource, columns, {
          company: 1,
          format,
          ...(format === 'xlsx' ? { sheet: 'Data' } : {}),
          file: `data.${format}`,
          job: 'data.yaml',
          catalogue: { templates, forms },
        }),
      cell: (id, name) => {
        const [row, index] = at(id, name);
        return row[index] ?? '';
      },
      put: (id, name, text) => {
        const [row, index] = at(id, name);
        row[index] = text;
      },
    };
  } finally {
    await known.close();
    await service.close();
  }
}

/** Writes file and job beside one another; the paths. */
export async function place(
  desk: Desk,
  exported: Exported,
  format: Format,
): Promise<{ readonly file: string; readonly job: string }> {
  const file = join(desk.dir, `data.${format}`);
  const job = join(desk.dir, 'data.yaml');
  const { rows, columns } = exported;
  async function* batches() {
    yield rows;
  }
  const about = { title: 'Data', facts: [] };
  await writeTable(file, columns, batches(), about);
  await writeFile(job, exported.job(format));
  return { file, job };
}
