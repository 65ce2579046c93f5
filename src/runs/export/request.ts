import type { ExportableName } from '../../model/resource-names.js';
import type { LoadedExportJob } from '../job/shape.js';
import type { RunOptions, StoredRun } from '../run/shell.js';

/** A job, or what people call an export without one: by its resource. */
export type ExportedBy = Pick<LoadedExportJob, 'name' | 'path' | 'sha256'> | { readonly name: string };
export interface ExportRequest extends RunOptions {
  readonly resource: ExportableName;
  /** Absolute path of the file to write; its name says the format: `.csv`, `.xlsx`, `.ndjson`, each with `.gz`. */
  readonly target: string;
  /** The folder of the file is made where it is missing. */
  readonly makeFolder?: boolean;
  /** Headings or fields, in this order; all where absent. */
  readonly columns?: readonly string[];
  /** `field=value`; a record must fit all of them. */
  readonly filter: readonly string[];
  /** A field, with `-` before it for descending; by id where absent. */
  readonly order?: string;
  /** With a job file beside it that imports the changed file. */
  readonly editable: boolean;
  readonly job: ExportedBy;
}

/** What an export was asked to do, as `run.json` keeps it. */
export interface StoredExport
  extends StoredRun,
    Pick<ExportRequest, 'resource' | 'columns' | 'filter' | 'order' | 'editable' | 'job'> {
  readonly kind: 'export';
  /** The file to write, under the key by which runs are listed. */
  readonly file: string;
}
