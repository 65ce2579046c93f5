import { isWritable } from '../../export/column.js';
import { exportColumns } from '../../export/columns.js';
import { exportFilter } from '../../export/filter.js';
import { chooseColumns, columnOf, type Naming } from '../../export/names.js';
import { exportOrder } from '../../export/order.js';
import { withArticle } from '../../model/article.js';
import { RunError } from '../../model/error.js';
import { didYouMean } from '../../pipeline/map/headings.js';
import { findField, resourceSpec } from '../../resources/registry.js';
import type { FieldSpec, ReadOnlyName, ResourceName } from '../../resources/spec.js';
import type { Report } from './names.js';
import { NO_LEXICON } from './no-lexicon.js';
import type { KeyPath } from './yaml.js';

/**
 * Holds what an export job names against the columns that the export will have, by the rules of the export itself, as far as
 * these are known without the service: custom fields and forms are the service's. What is wrong is reported.
 */
export interface ExportNames {
  column(text: string, path: KeyPath): void;
  /** `values` with the place of each. Returns the field, where it is one of the description. */
  filter(name: string, values: readonly Placed[], path: KeyPath): FieldSpec | undefined;
  /** `text` as it stands in the job, perhaps with a minus sign. */
  order(text: string, path: KeyPath): void;
}

export interface Placed {
  readonly value: unknown;
  readonly at: KeyPath;
}

export function exportNames(resource: ResourceName | ReadOnlyName, report: Report): ExportNames {
  const context = { lexicon: NO_LEXICON, templates: [], forms: [] };
  const naming: Naming = { ...context, resource, columns: exportColumns(resource, context) };
  const spec = isWritable(resource) ? resourceSpec(resource) : undefined;

  /** Whether only the service can tell what the name means. */
  const isCustom = (text: string, path: KeyPath, part: 'key' | 'value'): boolean => {
    const kind = /^-?\s*(template|form)\s*(?:\.|$)/i.exec(text)?.[1]?.toLowerCase();
    if (!spec || kind === undefined) return spec !== undefined && /^custom_form_(id|name|value)$/i.test(text);
    if (kind === 'form' && !spec.form)
      report(path, `\`${text}\`: ${withArticle(resource)} has no custom forms`, { part });
    return true;
  };
  /** Whether only the records can tell: they may show what the interface does not list. */
  const mayBeUnlisted = (text: string): boolean =>
    columnOf(text, naming) === undefined &&
    didYouMean(
      text,
      naming.columns.map(({ heading }) => heading),
    ) === '';
  return {
    column(text, path) {
      if (!isCustom(text, path, 'value') && !mayBeUnlisted(text))
        tried(() => chooseColumns([text], naming), path, 'value', report);
    },
    filter(name, values, path) {
      if (isCustom(name, path, 'key') || (!spec && mayBeUnlisted(name))) return undefined;
      // A view has no blank value.
      const probe =
        (resource === 'asset' && name.toLowerCase() === 'req') ||
        tried(() => exportFilter([`${name}=`], naming), path, 'key', report);
      for (const { value, at } of probe ? values : []) {
        if (typeof value === 'object') continue;
        tried(() => exportFilter([`${name}=${value}`], naming), at, 'value', report);
      }
      return spec && findField(spec, name);
    },
    order(text, path) {
      if (!isCustom(text, path, 'value') && (spec || !mayBeUnlisted(text.replace(/^-/, ''))))
        tried(() => exportOrder(text, naming), path, 'value', report);
    },
  };
}

/** Reports what the export would refuse; false where it would. */
function tried(work: () => unknown, path: KeyPath, part: 'key' | 'value', report: Report): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    // The place says what cannot be used.
    const told =
      error.details.length > 0 ? error.details : [error.message.replace(/^[^.]* cannot be (?:used|chosen so)\. /, '')];
    for (const message of told) report(path, message.replace(/\.$/, ''), { part });
    return false;
  }
}
