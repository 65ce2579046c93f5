// An inbox in a process of its own: `node inbox-process.mjs <options as JSON>`. Prints a line of JSON for every claim.
import { basename, dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';

const { dist, dir, jobsDir, quietMs, uid } = JSON.parse(process.argv[2]);
const load = (path) => import(pathToFileURL(`${dist}/worker/${path}`).href);
const { openInbox } = await load('inbox/inbox.js');
const { claimOf } = await load('inbox/claim.js');
const { DropFolder } = await load('inbox/drop-folder.js');
const { openJobFiles } = await load('job-files.js');
// Only now: this user may not be allowed to read the program.
if (uid !== undefined) {
  process.setgid(uid);
  process.setuid(uid);
}
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const ids = new Set();
const inbox = await openInbox({
  folder: new DropFolder(dir),
  jobsDir,
  jobs: openJobFiles(jobsDir),
  scheduled: () => [],
  quietMs,
  home: { id: '0123456789abcdef', shared: true },
  log: pino({ level: 'silent' }),
  notice: (level, text) => say({ level, text }),
  queue: {
    getJob: async (id) => (ids.has(id) ? { id } : undefined),
    add: async (_, { job, file }, { jobId }) => {
      ids.add(jobId);
      say({ claim: claimOf(dir, job, basename(dirname(file)), basename(file)) });
    },
  },
});
say({ open: true });
process.on('SIGTERM', () => void inbox.close().then(() => process.exit(0)));
