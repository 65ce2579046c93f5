import type { ExportableName } from '../model/resource-names.js';
import type { TableColumn } from '../model/table.js';
import type { ReadRecord } from '../resources/read.js';
import type { CustomTemplate, FieldType, Lexicon } from '../resources/spec.js';
import type { Json } from '../service/port.js';

/** Every resource that can be exported. */
export type Exportable = ExportableName;

/** A record on its way into a row. */
export interface ExportRecord {
  /** As the service sent it. */
  readonly json: Json;
  /** In canonical form; only of resources that can be written. Made when it is first asked for: most cells do without. */
  readonly read?: ReadRecord | undefined;
  /** `read` says nothing but what stands in `json`. */
  readonly asSent?: boolean;
}

/** What of the read form a column shows. */
export type ColumnSource =
  /** Dotted path. */
  | { readonly kind: 'path'; readonly path: string }
  /** A field of a custom field template or form row, by its canonical name: `template.<id>.<id>`, `form.<id>#2.<column>`. */
  | { readonly kind: 'custom'; readonly name: string }
  /** Members that the interface does not name; the keys on the way to them, which may hold dots themselves. */
  | { readonly kind: 'extra'; readonly keys: readonly string[] };

/** One column of an export. */
export interface ExportColumn extends TableColumn {
  /**
   * Field of a job file that this column shows, so that it can be imported again (`category.name`, `template.3.11`,
   * `form.4#2.Rack`); absent: the column is for information.
   */
  readonly field?: string;
  readonly source: ColumnSource;
  /** How an import reads the column; absent in resources that can only be read and for what the interface does not name. */
  readonly type?: FieldType;
  /** The cell of a record; '' where it holds nothing. Never throws. */
  text(record: ExportRecord): string;
}

/** What an export knows of the service's names. The lexicon is asked when a row is made, so it may learn until then. */
export interface ExportContext {
  readonly lexicon: Lexicon;
  readonly templates: readonly CustomTemplate[];
  readonly forms: readonly CustomTemplate[];
}
