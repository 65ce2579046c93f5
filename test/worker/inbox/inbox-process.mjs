// An inbox in a process of its own: `node inbox-process.mjs <options as JSON>`. Prints a line of JSON for every claim.
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';

const { dist, dir, jobsDir, quietMs, mode, uid } = JSON.parse(process.argv[2]);
const { openInbox } = await import(pathToFileURL(`${dist}/worker/inbox/inbox.js`).href);
// Only now: this user may not be allowed to read the program.
if (uid !== undefined) {
  process.setgid(uid);
  process.setuid(uid);
}
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const inbox = await openInbox({
  dir,
  jobsDir,
  scheduled: [],
  quietMs,
  log: pino({ level: 'silent' }),
  notice: (level, text) => say({ level, text }),
  mayTake: () => true,
  polling: mode ?? 'auto',
  offer: async (claim) => say({ claim }),
});
say({ open: true });
process.on('SIGTERM', () => void inbox.close().then(() => process.exit(0)));
