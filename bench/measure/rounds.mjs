/** Ours and the baseline in turns; what comes of the rounds. */

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

const round = (value) => (Number.isFinite(value) ? Number(value.toPrecision(4)) : null);

/** `{ least }` or `{ most }`: whether a ratio keeps it; undefined where there is no goal. */
export function isMet(goal, ratio) {
  if (goal === undefined || ratio === null) return undefined;
  return goal.least === undefined ? ratio <= goal.most : ratio >= goal.least;
}

/**
 * The lines of a case. It opened either as `variants`, of which each round measures ours and the baseline, the order turned
 * round after every round, or as `results` that a script has measured.
 */
export async function linesOf({ counts = false }, opened, rounds) {
  const lines = [];
  for (const result of opened.results ?? []) lines.push(line(result, result.rounds ?? [result]));
  for (const variant of opened.variants ?? []) {
    const taken = [];
    // Requests are the same in every round.
    const times = counts || opened.once ? 1 : rounds;
    for (let at = 0; at < times; at++) {
      const figures = {};
      for (const who of at % 2 === 0 ? ['ours', 'baseline'] : ['baseline', 'ours']) figures[who] = await variant[who]();
      const { ours, baseline } = figures;
      taken.push({ ...figures, ratio: variant.ratio ? variant.ratio(ours, baseline) : ours.value / baseline.value });
    }
    lines.push(line(variant, taken));
  }
  return lines;
}

function line({ what, goal, note, point }, taken) {
  const of = (who) => {
    const { unit } = taken[0][who];
    const peaks = taken.map((one) => one[who].peak).filter((peak) => peak !== undefined);
    const peak = peaks.length > 0 ? { peak_mb: Math.max(...peaks) } : {};
    return { value: round(median(taken.map((one) => one[who].value))), unit, ...peak };
  };
  const ratios = taken.map(({ ratio }) => ratio);
  const ratio = round(median(ratios));
  const met = isMet(goal, ratio);
  return {
    what,
    ours: of('ours'),
    baseline: of('baseline'),
    ratio,
    least: round(Math.min(...ratios)),
    greatest: round(Math.max(...ratios)),
    rounds: ratios.length,
    ...(goal ? { goal } : {}),
    ...(met === undefined ? {} : { met }),
    ...(note ? { note } : {}),
    ...(point ? { point } : {}),
  };
}
