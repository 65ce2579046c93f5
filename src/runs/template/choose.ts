import { type BlankColumn, blankColumns, isIndispensable } from '../../blank-workbook/columns.js';
import { RunError } from '../../model/error.js';
import { foldText } from '../../model/value.js';
import type { Catalogue } from '../../pipeline/map/targets.js';
import { findField } from '../../resources/registry.js';
import type { ResourceSpec } from '../../resources/spec.js';
import { didYouMean } from '../nearest.js';
import { type CustomChoice, customTarget } from './custom.js';

/**
 * The columns of the workbook: all, or those that are `wanted` after those without which nothing could be imported. A
 * column is named by its field, an alias or its heading. Throws `RunError('usage')` with every name that is wrong.
 */
export function chooseColumns(
  spec: ResourceSpec,
  custom: CustomChoice,
  wanted: readonly string[] | undefined,
  catalogue: Catalogue | undefined,
): BlankColumn[] {
  const all = blankColumns(spec, custom.columns);
  if (wanted === undefined) return all;
  const problems: string[] = [];
  const chosen = new Set(all.filter((column) => isIndispensable(column, spec)));
  for (const text of wanted) {
    const column = findColumn(text, spec, all, catalogue);
    if (typeof column === 'string') problems.push(column);
    else chosen.add(column);
  }
  if (problems.length > 0) {
    throw new RunError(
      'usage',
      `--columns: ${problems.length === 1 ? 'a name is' : `${problems.length} names are`} wrong. Nothing was written.`,
      problems,
    );
  }
  return [...chosen];
}

function findColumn(
  text: string,
  spec: ResourceSpec,
  all: readonly BlankColumn[],
  catalogue: Catalogue | undefined,
): BlankColumn | string {
  const field = findField(spec, text);
  const own = field && all.find((column) => column.field === field.name);
  if (own) return own;
  const bare = (heading: string) => foldText(heading.replace(/ \*$/, ''));
  const headed = all.find(
    ({ heading, spec: one }) => bare(heading) === bare(text) || foldText(one.label) === foldText(text),
  );
  if (headed) return headed;
  if (field) return `\`${text}\` can only be read: the service sets it itself`;
  if (/^\s*(?:template|form)\s*\./i.test(text)) {
    if (!catalogue)
      return `\`${text}\`: custom fields are known to the service alone; set ROWFERRY_API_URL and ROWFERRY_API_TOKEN`;
    const found = customTarget(text, spec, catalogue);
    if (found && 'spec' in found) {
      const column = all.find((one) => one.spec.name === found.spec.name);
      return (
        column ??
        `\`${text}\` is not of the custom field template of this workbook; leave --template out, or name its own`
      );
    }
    return `\`${text}\`: ${found ? found.problem : 'is no custom field'}`;
  }
  const names = all.flatMap((column) => [column.field, column.heading, ...(column.spec.aliases ?? [])]);
  return `${spec.name} records have no field \`${text}\`${didYouMean(text, names)}`;
}
