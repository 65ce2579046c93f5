// Simulates millions of rows: whole runs in one process, with time, chance, network, disk and rights of a made-up world.
//
//   node bench/simulate.mjs --rows 1000000 --seed 1 [--dist PATH] [--most N] [--shrink SECONDS] [--verbose]
//
// `--dist` plays against a compiled program, e.g. one with a fault planted in it. All other arguments are those of
// test/simulation/run.ts. Prints a line of JSON for each violation, progress, and the total; exits 1 where there were violations.
import { spawn } from 'node:child_process';
import { simulationPath } from '../test/simulation/build.mjs';

const args = process.argv.slice(2);
const at = args.indexOf('--dist');
const dist = at < 0 ? undefined : args.splice(at, 2)[1];
const main = await simulationPath(dist);
const child = spawn(process.execPath, ['--max-old-space-size=1024', main, ...args], { stdio: 'inherit' });
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
