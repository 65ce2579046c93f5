import { Decimal } from '../model/decimal.js';
import type { RowsJob } from '../model/job.js';
import type { Cell } from '../model/row.js';
import { checkValue } from '../resources/value-check.js';
import { trimText } from './cell-text.js';
import { makeConverter } from './convert.js';
import { compileDateFormat } from './date-format.js';
import { excerpt } from './nearest.js';
import { isRefusal } from './refusal.js';
import { isNamed, type StagedValue } from './staged.js';
import type { Target } from './targets.js';

/**
 * A value the job itself states (constants, defaults, `values`), in the type of its field. A fault goes to `problems` and gives
 * undefined. Job files write `.` as the decimal sign and dates as `yyyy-MM-dd`, or in a format of `source.dates`.
 */
export function jobValue(
  target: Target,
  scalar: string | number | boolean,
  at: { readonly where: string; readonly job: RowsJob; readonly column?: string },
  problems: string[],
): StagedValue | undefined {
  const cell: Cell = typeof scalar === 'number' ? numberCell(scalar) : trimText(String(scalar));
  if (cell === '') {
    problems.push(`${at.where}: the value is blank; state a value, or use \`blank: clear\``);
    return undefined;
  }
  const options = {
    decimal: { sign: '.', why: 'job files write it so' },
    format: 'ndjson',
    ...(at.column === undefined ? {} : { column: at.column }),
  } as const;
  let value = makeConverter(target.spec, options)(cell);
  const dates = (at.job.source.dates ?? []).map(compileDateFormat).filter((format) => typeof format !== 'string');
  if (isRefusal(value) && target.spec.type.kind === 'date' && dates.length > 0) {
    value = makeConverter(target.spec, { ...options, dates })(cell);
  }
  if (isRefusal(value)) {
    problems.push(`${at.where}: "${excerpt(String(scalar))}" ${value.why}`);
    return undefined;
  }
  const wrong = isNamed(value) ? undefined : checkValue(target.spec, value);
  if (!wrong) return value;
  problems.push(`${at.where}: ${wrong.message}`);
  return undefined;
}

function numberCell(value: number): Cell {
  return { t: 'n', value: Decimal.of(value).text, shown: String(value) };
}
