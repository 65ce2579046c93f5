import { join } from 'node:path';
import { z } from 'zod';
import { RunError } from '../../model/error.js';
import { readJobYaml } from '../../runs/job/yaml.js';
import { likelyResource, type MapResult, mapFile } from '../../runs/map-file.js';
import type { ApiParts } from '../app.js';
import { type Operation, operation, type Told } from '../operation.js';
import {
  grid,
  gridQuery,
  type Suggestion,
  suggestion,
  suggestionRequest,
  type Table,
  type TableOptions,
  table,
  tableRequest,
} from '../schema.js';
import type { Tables } from './table-index.js';

/** Rows below the heading that are shown at once. */
const FIRST_ROWS = 50;
/** A text that is shown as a sample. */
const SAMPLE_CHARACTERS = 200;

type Found = Awaited<ReturnType<ApiParts['uploads']['given']>>;

/** A few words about a file, not the file. */
const atMost = [64 * 1024, 'This is too long: a file is sent with POST /files, and named here.'] as const;

export function tableOperations({ uploads, tables, settings, channel }: ApiParts): Operation[] {
  const open = ({ path, folder }: Found, options: TableOptions) =>
    named(path, () => tables.soon({ file: path, folder: join(folder, '.tables'), options: stated(options) }));
  return [
    operation(
      'POST /tables',
      { summary: 'The table that is found in a file, with the evidence.', body: tableRequest, atMost, answer: table },
      async ({ body: { file, source = {} } }) => {
        const found = await uploads.given(file);
        return tableOf(found.name, await open(found, source));
      },
    ),
    operation(
      'GET /files/{id}/rows',
      {
        summary: 'Rows of the table in a file, at any place.',
        params: z.object({ id: z.string() }),
        query: gridQuery,
        answer: grid,
      },
      async ({ params: { id }, query: { after, offset, limit, ...source } }) => {
        const { index, judged } = await open(await uploads.given(id), source);
        const rows = await index.page(offset === undefined ? { after } : { place: offset }, limit);
        const whole = judged === 'whole' && index.whole;
        return { headings: index.headings, rows, total: index.rows, whole };
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
      async ({ body: { file, resource, source = {} } }) => {
        const { path } = await uploads.given(file);
        const request = { file: path, resource, source: stated(source), settings, channel };
        return suggestionOf(await named(path, () => mapFile(request)));
      },
    ),
  ];
}

/** A key without a value is as one that is not there. */
const stated = ({ sheet, header_row, encoding, delimiter }: TableOptions) => ({
  ...(sheet !== undefined && { sheet }),
  ...(header_row !== undefined && { header_row }),
  ...(encoding !== undefined && { encoding }),
  ...(delimiter !== undefined && { delimiter }),
});

/** People know the file by its name, and the folder is none of their business. */
async function named<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    const shorten = (text: string) => text.replaceAll(path, path.slice(path.lastIndexOf('/') + 1));
    // Whatever is wrong with the file, it is another one that has to be sent, or read in another way.
    throw new RunError('usage', shorten(error.message), error.details.map(shorten), { cause: error });
  }
}

async function tableOf(name: string, { index, judged }: Awaited<ReturnType<Tables['soon']>>): Promise<Told<Table>> {
  const { format, encoding, delimiter, sheet, sheets = [], header_row, headings, evidence, warnings } = index.meta;
  return {
    ...{ format, encoding, delimiter, sheet, sheets, header_row, evidence, warnings },
    headings: index.headings,
    first: await index.page({ after: 0 }, FIRST_ROWS),
    resource: likelyResource(headings, [name, sheet ?? '']),
    whole: judged === 'whole',
  };
}

function suggestionOf({ suggestion: found, summary, job }: MapResult): Told<Suggestion> {
  const { key, missing, next, warnings } = summary;
  return {
    resource: found.resource,
    rows: found.rows,
    columns: summary.columns.map((column, at) => {
      const { name = column.heading, samples = [], blank = 0, converts = null } = found.columns[at] ?? {};
      const shown = samples.map((text) => text.slice(0, SAMPLE_CHARACTERS));
      return { ...column, heading: name, samples: shown, blank, converts };
    }),
    ...{ key, missing, next, warnings },
    text: job,
    job: readJobYaml(job).value as Record<string, unknown>,
  };
}
