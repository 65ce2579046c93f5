// Loaded before a measured program: writes its peak memory, in MB, as it ends.
import { readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

function peak() {
  try {
    const high = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'));
    if (high) return Number(high[1]) / 1024;
  } catch {}
  return process.resourceUsage().maxRSS / 1024;
}

const file = process.env['BENCH_PEAK_FILE'];
if (isMainThread && file) {
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    writeFileSync(file, JSON.stringify({ peak: Math.round(peak()), cpu: (user + system) / 1e6 }));
  });
}
