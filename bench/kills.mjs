/**
 * Kills at random moments: imports, nights that are applied, and exports are killed without a word, taken up again, killed
 * again, restarted until they are quiet, and judged by the invariant checker (test/invariants).
 *
 *   node bench/kills.mjs [--kills 500] [--seed 1] [--only importAssets,reconcileAssets]
 *   node bench/kills.mjs --every       no chance: first, middle and last occurrence of every milestone, and in every recovery
 *
 * A moment is one of the run's milestones (src/trace/milestones.ts), or a time since its start. Prints kills, processes,
 * rows and violations; ends with 1 where there is one. The seed repeats scenarios and moments, though not what else the machine does.
 */
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    kills: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string' },
    every: { type: 'boolean' },
  },
});
const wanted = Number(values.kills ?? 500);
const seed = Number(values.seed ?? 1);

const compiled = compile();
const { SCENARIOS, BEGUN } = await import(pathToFileURL(join(compiled, 'test/crash/failpoint-scenarios.js')).href);
const { countMilestones, everyMoment, everyRecovery, killAlong } = await import(
  pathToFileURL(join(compiled, 'test/crash/failpoints.js')).href
);

const random = seeded(seed);
const names = (values.only?.split(',') ?? Object.keys(SCENARIOS)).sort();
const total = { trials: 0, killed: 0, processes: 0, rows: 0, wrong: 0 };
const began = performance.now();
await (values.every ? everywhere() : anywhere());
const seconds = Math.round((performance.now() - began) / 1000);
console.log(
  `${total.killed} kills in ${total.trials} trials of ${names.join(', ')}: ${total.processes} processes, ${total.rows} rows, ` +
    `${total.wrong} violations; ${values.every ? 'every milestone' : `seed ${seed}`}, ${seconds} s`,
);
process.exitCode = total.wrong > 0 ? 1 : 0;

/** At random moments, until there were as many kills as are wanted. */
async function anywhere() {
  /** What undisturbed runs come to, and how long they take. */
  const known = new Map();
  for (const name of names) known.set(name, await countMilestones(SCENARIOS[name]));
  while (total.killed < wanted) {
    const name = names[Math.floor(random() * names.length)];
    const some = () => Array.from({ length: 1 + Math.floor(random() * 4) }, () => momentOf(known.get(name)));
    const chains = [1, 2, 3].map(some);
    count(name, await killAlong(SCENARIOS[name], chains), chains.length);
    if (process.stderr.isTTY) process.stderr.write(`\r${total.killed} of ${wanted} kills, ${total.wrong} violations `);
  }
}

/** At the first, middle and last occurrence of every milestone, and in every recovery again. */
async function everywhere() {
  for (const name of names) {
    const found = await everyMoment(SCENARIOS[name], true);
    count(name, found, found.moments);
    count(name, await everyRecovery(SCENARIOS[name], BEGUN[name], [0, 1, 2]), 3);
    console.log(`${name}: ${total.killed} kills so far, ${total.wrong} violations`);
  }
}

function count(name, found, trials) {
  total.trials += trials;
  for (const what of ['killed', 'processes', 'rows']) total[what] += found[what];
  total.wrong += found.wrong.length;
  for (const text of found.wrong) console.log(`VIOLATION ${name}: ${text}`);
}

/** Half of the kills come at a milestone, whichever of its occurrences; the others at any time. */
function momentOf({ reached, ms }) {
  if (random() < 0.5) return { ms: Math.floor(random() * ms) };
  const [milestone, count] = [...reached][Math.floor(random() * reached.size)];
  return { milestone, nth: 1 + Math.floor(random() * count) };
}

/** The sources, and the tests that are used here, as JavaScript in one folder; compiled once for each state they are in. */
function compile() {
  const files = ['src', 'test/crash', 'test/support', 'test/invariants'].flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length)),
  );
  const hash = createHash('sha256').update(ts.version);
  for (const file of files.sort()) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  const cache = join(root, 'node_modules', '.cache', 'rowferry-kills');
  const target = join(cache, hash.digest('hex').slice(0, 16));
  try {
    readdirSync(target);
    return target;
  } catch {
    // Compiled states that are gone; another one that is at work just now may use those of the last hours.
    for (const { name, at } of compiledBefore(cache)) {
      if (Date.now() - at > 12 * 3_600_000) rmSync(join(cache, name), { recursive: true, force: true });
    }
  }
  const fresh = `${target}.${process.pid}`;
  for (const file of files) {
    const to = join(fresh, file);
    mkdirSync(dirname(to), { recursive: true });
    if (!file.endsWith('.ts')) {
      cpSync(join(root, file), to);
      continue;
    }
    const { outputText } = ts.transpileModule(readFileSync(join(root, file), 'utf8'), {
      fileName: file,
      compilerOptions: {
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
      },
    });
    writeFileSync(to.replace(/\.ts$/, '.js'), outputText);
  }
  cpSync(join(root, 'package.json'), join(fresh, 'package.json'));
  for (const folder of ['jobs', 'fixtures', 'schemas']) symlinkSync(join(root, folder), join(fresh, folder), 'dir');
  renameSync(fresh, target);
  return target;
}

function compiledBefore(cache) {
  try {
    return readdirSync(cache).map((name) => ({ name, at: statSync(join(cache, name)).mtimeMs }));
  } catch {
    return [];
  }
}

/** Mulberry32. */
function seeded(from) {
  let state = from >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
