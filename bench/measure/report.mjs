/** The results as a table: for the terminal, and for docs/design/performance.md. */

const number = (value) =>
  value === null
    ? '–'
    : value >= 100
      ? Math.round(value).toLocaleString('en-US')
      : String(Number(value.toPrecision(3)));

export const amount = ({ value, unit }) => `${number(value)} ${unit}`;
export const goalText = (goal) => (goal ? (goal.least === undefined ? `≤ ${goal.most}` : `≥ ${goal.least}`) : '');
const metText = (met) => (met === undefined ? '' : met ? 'yes' : 'no');

export function ratioText({ ratio, least, greatest, rounds }) {
  if (ratio === null) return '–';
  return rounds > 1 ? `${number(ratio)} (${number(least)} to ${number(greatest)})` : number(ratio);
}

const HEADINGS = ['case', 'ours', 'baseline', 'ratio', 'goal', 'met'];

function rowsOf(cases) {
  return cases.flatMap(({ name, lines, error }) =>
    error
      ? [[name, `could not run: ${error.split('\n').at(-1)}`, '', '', '', '']]
      : lines.map((line) => [
          `${name}: ${line.what}`,
          amount(line.ours),
          amount(line.baseline),
          ratioText(line),
          goalText(line.goal),
          metText(line.met),
        ]),
  );
}

export function terminalTable(cases) {
  const rows = [HEADINGS, ...rowsOf(cases)];
  const widths = HEADINGS.map((_, i) =>
    Math.max(...rows.map((cells) => (cells[1].startsWith('could') && i > 0 ? 0 : cells[i].length))),
  );
  return rows
    .map((cells) =>
      cells
        .map((cell, i) => cell.padEnd(widths[i]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const inCell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** Markdown: what, ours, baseline, ratio, goal, met, and the command of each figure. */
export function markdownTable({ cases, ...run }) {
  const head = ['what', 'ours', 'against', 'ratio', 'goal', 'met', 'command'];
  const lines = cases.flatMap(({ title, baseline, command, lines, error }) =>
    error
      ? [[title, `could not run: ${error.split('\n')[0]}`, baseline, '', '', '', `\`${command}\``]]
      : lines.map((line) => [
          `${title}: ${line.what}`,
          amount(line.ours),
          `${baseline}: ${amount(line.baseline)}`,
          ratioText(line),
          goalText(line.goal),
          metText(line.met),
          `\`${command}\``,
        ]),
  );
  const size = run.quick ? 'a smoke run of small sizes' : run.full ? 'all sizes' : 'the usual sizes';
  const where = `${run.started_at.slice(0, 10)}, commit ${run.commit ?? 'unknown'}${run.changed ? ' and changes' : ''}, Node ${run.node}, ${run.cores} cores (${run.cpu}), load ${run.load[0]} before and ${run.load_after[0]} after; ${size}, ${run.rounds} ${run.rounds === 1 ? 'round' : 'rounds'}.`;
  return [
    [where, ...earlierMeasurements(cases)].join(' '),
    '',
    `| ${head.join(' | ')} |`,
    `|${'---|'.repeat(head.length)}`,
    ...lines.map((cells) => `| ${cells.map(inCell).join(' | ')} |`),
  ].join('\n');
}

/** Of the cases that were kept from earlier runs: which, and where they stood. */
function earlierMeasurements(cases) {
  const runs = [...new Set(cases.flatMap(whereOf))];
  return runs.map((where) => {
    const some = cases.filter((one) => whereOf(one)[0] === where);
    return `${some.map(({ name }) => name).join(', ')}: ${where}.`;
  });
}

const whereOf = ({ measured }) =>
  measured ? [`commit ${measured.commit ?? 'unknown'}, load ${measured.load[0]} before`] : [];
