// Loaded before a measured program: writes its peak memory, in MB, and its processor time with that of its children as it ends.
import { readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

function peak() {
  try {
    const high = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'));
    if (high) return Number(high[1]) / 1024;
  } catch {}
  return process.resourceUsage().maxRSS / 1024;
}

/** Of children that have ended, where /proc is. */
function childrenSeconds() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return 0;
  }
}

const file = process.env['BENCH_PEAK_FILE'];
if (isMainThread && file) {
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    writeFileSync(file, JSON.stringify({ peak: Math.round(peak()), cpu: (user + system) / 1e6 + childrenSeconds() }));
  });
}
