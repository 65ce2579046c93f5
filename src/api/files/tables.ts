import { openSource } from '../../files/open.js';
import { RunError, usageError } from '../../model/error.js';
import { displayText } from '../../model/row.js';
import type { OpenSource, SourceMeta } from '../../model/source.js';
import { readJobYaml } from '../../runs/job/yaml.js';
import type { MapResult } from '../../runs/map-file.js';
import { columnNames } from '../../runs/run/table.js';
import type { ApiParts } from '../app.js';
import { type DeepReadonly, type Operation, operation } from '../operation.js';
import {
  type GridRow,
  type Suggestion,
  suggestion,
  suggestionRequest,
  type Table,
  type TableOptions,
  table,
  tableRequest,
} from '../schema.js';

/** Rows below the heading that are shown at once. */
const FIRST_ROWS = 50;
/** A text that is shown as a sample. */
const SAMPLE_CHARACTERS = 200;

/** A few words about a file, not the file. */
const atMost = [64 * 1024, 'This is too long: a file is sent with POST /files, and named here.'] as const;

/** What makes suggestions knows what people call every field: loaded for the first file, not at the start of a worker. */
const suggestions = () => import('../../runs/map-file.js');

export function tableOperations({ uploads, settings, channel }: ApiParts): Operation[] {
  return [
    operation(
      'POST /tables',
      { summary: 'The table that is found in a file, with the evidence.', body: tableRequest, atMost, answer: table },
      async ({ body: { file, source } }) => {
        const { name, path } = await uploads.mustFind(file);
        return withFileName(path, async () => tableOf(name, await openSource(path, optionsOf(source))));
      },
    ),
    operation(
      'POST /suggestions',
      {
        summary: 'Suggests a job for a file, as `rowferry map` does.',
        role: 'operator',
        body: suggestionRequest,
        atMost,
        answer: suggestion,
      },
      async ({ body: { file, resource, source } }) => {
        const { path } = await uploads.mustFind(file);
        const request = { file: path, resource, source: optionsOf(source), settings, channel };
        const { mapFile } = await suggestions();
        return suggestionOf(await withFileName(path, () => mapFile(request)));
      },
    ),
  ];
}

/** No key of what came as JSON is there without a value. */
const optionsOf = (source: TableOptions = {}) =>
  source as { readonly [key in keyof TableOptions]: NonNullable<TableOptions[key]> };

/** People know the file by its name, and the folder is none of their business. */
async function withFileName<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    const shorten = (text: string) => text.replaceAll(path, path.slice(path.lastIndexOf('/') + 1));
    // Whatever is wrong with the file, it is another one that has to be sent, or read in another way.
    throw usageError(shorten(error.message), error.details.map(shorten), { cause: error });
  }
}

async function tableOf(file: string, { meta, rows }: OpenSource): Promise<DeepReadonly<Table>> {
  const { format, encoding, delimiter, sheet, sheets = [], header_row, headings, evidence, warnings } = meta;
  const first: GridRow[] = [];
  for await (const batch of rows()) {
    first.push(...batch.map(({ row, cells }) => ({ row, cells: cells.map(displayText) })));
    if (first.length >= FIRST_ROWS) break;
  }
  return {
    ...{ format, encoding, delimiter, sheet, sheets, header_row, evidence, warnings },
    headings: headingsOf(meta),
    first: first.slice(0, FIRST_ROWS),
    resource: (await suggestions()).likelyResource(headings, [file, sheet ?? '']),
  };
}

/** As jobs and corrections name the columns: a blank one by its letter, and those that are alike told apart. */
export const headingsOf = ({ headings }: SourceMeta): string[] =>
  columnNames(headings).map((name, at) => name ?? headings[at] ?? '');

function suggestionOf({ suggestion: found, summary, job }: MapResult): DeepReadonly<Suggestion> {
  const { key, missing, next, warnings } = summary;
  return {
    resource: found.resource,
    rows: found.rows,
    columns: summary.columns.map((column, at) => {
      const { name = column.heading, samples = [], blank = 0, converts = null } = found.columns[at] ?? {};
      const shortened = samples.map((text) => text.slice(0, SAMPLE_CHARACTERS));
      return { ...column, heading: name, samples: shortened, blank, converts };
    }),
    ...{ key, missing, next, warnings },
    text: job,
    job: readJobYaml(job).value as Record<string, unknown>,
  };
}
