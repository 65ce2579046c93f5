import { join } from 'node:path';
import { z } from 'zod';
import { RunError } from '../model/error.js';
import { readJobYaml } from '../runs/job/yaml.js';
import { likelyResource, type MapResult, mapFile } from '../runs/map-file.js';
import type { ApiParts } from './app.js';
import { type Api, atMost, get, needs, send } from './operation.js';
import {
  type Grid,
  grid,
  gridQuery,
  type Suggestion,
  suggestion,
  suggestionRequest,
  type Table,
  type TableOptions,
  table,
  tableRequest,
} from './schema.js';
import type { Tables } from './table-index.js';

/** Rows below the heading that are shown at once. */
const FIRST_ROWS = 50;
/** A text that is shown as a sample. */
const SAMPLE_CHARACTERS = 200;

type Found = Awaited<ReturnType<ApiParts['uploads']['given']>>;

/** A few words about a file, not the file. */
const short = atMost(64 * 1024, 'This is too long: a file is sent with POST /files, and named here.');

export function tableRoutes(app: Api, { uploads, tables, settings, channel }: ApiParts): void {
  const open = ({ path, folder }: Found, options: TableOptions) =>
    named(path, () => tables.soon({ file: path, folder: join(folder, '.tables'), options: stated(options) }));
  app.openapi(
    send('post', '/tables', 'The table that is found in a file, with the evidence.', {
      body: tableRequest,
      middleware: [short],
      answer: [200, table],
    }),
    async (c) => {
      const { file, source = {} } = c.req.valid('json');
      const found = await uploads.given(file);
      return c.json(await tableOf(found.name, await open(found, source)), 200);
    },
  );
  app.openapi(
    get('/files/{id}/rows', 'Rows of the table in a file, at any place.', grid, {
      params: z.object({ id: z.string() }),
      query: gridQuery,
    }),
    async (c) => {
      const { after, offset, limit, ...source } = c.req.valid('query');
      const { index, judged } = await open(await uploads.given(c.req.valid('param').id), source);
      const rows = await index.page(offset === undefined ? { after } : { place: offset }, limit);
      const whole = judged === 'whole' && index.whole;
      const answer: Grid = { headings: index.headings, rows, total: index.rows, whole };
      return c.json(answer, 200);
    },
  );
  app.openapi(
    send('post', '/suggestions', 'Suggests a job for a file, as `rowferry map` does.', {
      body: suggestionRequest,
      middleware: [needs('operator'), short],
      answer: [200, suggestion],
    }),
    async (c) => {
      const { file, resource, source = {} } = c.req.valid('json');
      const { path } = await uploads.given(file);
      const request = { file: path, resource, source: stated(source), settings, channel };
      return c.json(suggestionOf(await named(path, () => mapFile(request))), 200);
    },
  );
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

async function tableOf(name: string, { index, judged }: Awaited<ReturnType<Tables['soon']>>): Promise<Table> {
  const { format, encoding, delimiter, sheet, sheets, header_row, evidence, warnings } = index.meta;
  return {
    format,
    encoding,
    delimiter,
    sheet,
    sheets: [...(sheets ?? [])],
    header_row,
    headings: index.headings,
    first: await index.page({ after: 0 }, FIRST_ROWS),
    resource: likelyResource(index.meta.headings, [name, sheet ?? '']),
    evidence: [...evidence],
    warnings: [...warnings],
    whole: judged === 'whole',
  };
}

function suggestionOf({ suggestion: found, summary, job }: MapResult): Suggestion {
  return {
    resource: found.resource,
    rows: found.rows,
    columns: summary.columns.map((column, at) => {
      const { name, samples = [], blank = 0, converts } = found.columns[at] ?? {};
      return {
        ...column,
        heading: name ?? column.heading,
        evidence: [...column.evidence],
        remarks: [...column.remarks],
        alternatives: column.alternatives.map((one) => ({ ...one })),
        samples: samples.map((text) => text.slice(0, SAMPLE_CHARACTERS)),
        blank,
        converts: converts ?? null,
      };
    }),
    key: summary.key,
    missing: [...summary.missing],
    next: summary.next,
    warnings: [...summary.warnings],
    text: job,
    job: readJobYaml(job).value as Record<string, unknown>,
  };
}
