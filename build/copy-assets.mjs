// Makes the command executable; a checkout on a file system without modes is fine without it.
import { chmodSync } from 'node:fs';

try {
  chmodSync(new URL('../dist/cli/main.js', import.meta.url), 0o755);
} catch {}
