// Adds to package-lock.json the optional packages of other platforms that a partial registry mirror left out,
// so that `npm ci` works on every platform, and the hashes of those that lack one. Run after `npm install` when `npm ci`
// reports "Missing: … from lock file", and before a release against the whole registry: what is left without a hash is named.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
const added = [];
for (const [, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    const platform =
      /(android|darwin|freebsd|linux|win32)-(arm64|x64|arm|ia32|riscv64|ppc64|s390x)(?:-(musl|gnu|gnueabihf|msvc))?$/.exec(
        name,
      );
    if (lock.packages[path] || !platform) continue;
    const [, os, cpu, libc] = platform;
    lock.packages[path] = {
      version: version.replace(/^[\^~]/, ''),
      cpu: [cpu],
      ...(entry.dev ? { dev: true } : {}),
      ...(libc === 'musl'
        ? { libc: ['musl'] }
        : os === 'linux' && libc === undefined && /biome/.test(name)
          ? { libc: ['glibc'] }
          : {}),
      optional: true,
      os: [os],
    };
    added.push(name);
  }
}
/** '' where this registry does not have it. */
function hashOf(name, version) {
  try {
    return execFileSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return '';
  }
}

const bare = [];
for (const [path, { version, ...entry }] of Object.entries(lock.packages)) {
  if (path === '' || entry.integrity) continue;
  const integrity = hashOf(path.replace(/^.*node_modules\//, ''), version);
  if (/^sha512-/.test(integrity)) lock.packages[path] = { version, integrity, ...entry };
  else bare.push(path);
}
const [root, ...rest] = Object.keys(lock.packages).sort();
lock.packages = Object.fromEntries([root, ...rest].map((key) => [key, lock.packages[key]]));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(added.length ? `added ${added.join(', ')}` : 'nothing was missing');
if (bare.length) console.log(`without a hash: ${bare.join(', ')}`);
