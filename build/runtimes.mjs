/**
 * The fast tests on other versions of Node.js than the machine's, each from the registry: npm run test:runtimes [24 26]
 * From 22.13 on the store is that of Node.js itself, before it is libsql.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const versions = process.argv.length > 2 ? process.argv.slice(2) : ['24', '26'];
const system = `node-${process.platform}-${process.arch}`;
let failed = 0;
for (const version of versions) {
  const folder = `${root}node_modules/.cache/runtimes/${version}`;
  mkdirSync(folder, { recursive: true });
  const install = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `${system}@${version}`];
  if (spawnSync('npm', install, { stdio: 'inherit' }).status !== 0) process.exit(1);
  const node = `${folder}/node_modules/${system}/bin/node`;
  console.log(`== Node.js ${spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()}`);
  const tests = ['node_modules/vitest/vitest.mjs', 'run', '--project=fast', '--project=fast-alone'];
  const { status } = spawnSync(node, tests, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PATH: `${folder}/node_modules/${system}/bin:${process.env.PATH}` },
  });
  if (status !== 0) failed++;
}
process.exit(failed === 0 ? 0 : 1);
