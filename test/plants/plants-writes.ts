import type { Plant } from './plant.js';

/** Bugs in sending: what goes out, when, how often, and what is made of the answer. */
export const WRITE_PLANTS: readonly Plant[] = [
  {
    name: 'intent not durable',
    scenario: 'killed',
    why: 'What was sent is not known after a power cut.',
    patches: [
      {
        file: 'runs/rows/write.js',
        find: 'await run.store.flush();',
        replace: '',
      },
      // What waits is written after a second in any case: on a slow machine that comes before the kill.
      { file: 'store/run-store.js', find: 'FLUSH_AFTER_MS = 1_000;', replace: 'FLUSH_AFTER_MS = 600_000;' },
    ],
  },
  {
    name: 'no intent',
    scenario: 'killed',
    why: 'A resumed run takes its own records for those of others.',
    patches: [
      {
        file: 'runs/rows/write.js',
        find: 'intents.map((intent) => ({ ...intent, at }))',
        replace: '[]',
      },
    ],
  },
  {
    name: 'outcome before the answer',
    scenario: 'faults',
    why: 'A row is told to be created, and the service refused it.',
    patches: [
      {
        file: 'pipeline/apply/write.js',
        find: 'return this.carryOut().then((draft) => this.end(draft));',
        replace:
          "if (this.change.kind === 'create') { this.end({ kind: 'created', attempts: 1, issues: this.change.issues }); return this.carryOut().then(() => undefined); } return this.carryOut().then((draft) => this.end(draft));",
      },
    ],
  },
  {
    name: 'create repeated after 5xx',
    scenario: 'lag',
    why: 'The first request may have taken effect.',
    patches: [
      {
        file: 'service/transport/answer.js',
        find: "return { kind: 'open', answered: true, reason: `the service answered with status",
        replace: "return { kind: 'again', why: 'down', reason: `the service answered with status",
      },
    ],
  },
  {
    name: 'create repeated after a cut connection',
    scenario: 'lag',
    why: 'The first request may have taken effect.',
    patches: [{ file: 'service/transport/answer.js', find: 'if (!exchange.sent)', replace: 'if (true)' }],
  },
  {
    name: 'one look-up only',
    scenario: 'lag',
    why: 'Look-ups lag behind writes.',
    patches: [
      {
        file: 'pipeline/apply/create.js',
        find: '}, window);',
        replace: '}, window.slice(0, 1));',
      },
    ],
  },
  {
    name: 'no look-up before sending again',
    scenario: 'lag',
    why: 'The record is there already.',
    patches: [{ file: 'pipeline/apply/create.js', find: '}, window);', replace: '}, []);' }],
  },
  {
    name: 'adopted without a look at its contents',
    scenario: 'others',
    why: 'A record that somebody else made is told to be ours.',
    patches: [{ file: 'pipeline/apply/create.js', find: 'if (differing.length === 0)', replace: 'if (true)' }],
  },
  {
    name: 'unknown told as created',
    scenario: 'blind',
    why: 'Nobody looks for what is not there.',
    patches: [
      {
        file: 'pipeline/apply/create.js',
        find: "return this.draft('unknown',",
        replace: "return this.draft('created',",
      },
    ],
  },
  {
    name: 'a web page is success',
    scenario: 'faults',
    why: 'A login page answers everything with 200.',
    patches: [
      {
        file: 'service/transport/answer.js',
        find: "return { kind: 'open', answered: false, reason: notJson(answer) };",
        replace: "return { kind: 'ok', json: undefined };",
      },
    ],
  },
  {
    name: 'a redirect is success',
    scenario: 'redirected',
    why: 'The body never arrived.',
    patches: [
      {
        file: 'service/transport/answer.js',
        find: "return { kind: 'stop', why: 'redirect' };",
        replace: "return { kind: 'ok', json: undefined };",
      },
    ],
  },
  {
    name: '5xx on an update is success',
    scenario: 'faults',
    why: 'The update may not have taken effect.',
    patches: [
      {
        file: 'pipeline/apply/update.js',
        find: 'return this.settleOpen(merge, answer.reason);',
        replace: "return { ...this.draft('updated'), diff };",
      },
    ],
  },
  {
    name: 'refusals are repeated',
    scenario: 'faults',
    why: 'What the service refused is sent until it takes it.',
    patches: [
      {
        file: 'service/transport/answer.js',
        find: "return { kind: 'refused', status };",
        replace: "return { kind: 'again', why: 'down', reason: 'refused' };",
      },
    ],
  },
  {
    name: 'refused told as created',
    scenario: 'faults',
    why: 'The record is not there.',
    patches: [
      {
        file: 'pipeline/apply/create.js',
        find: "return this.draft('rejected',",
        replace: "return this.draft('created',",
      },
    ],
  },
  {
    name: 'Retry-After ignored',
    scenario: 'throttled',
    why: 'The service asked for a pause.',
    patches: [{ file: 'service/transport/send.js', find: 'pacer.hold(heldMs);', replace: ';' }],
  },
  {
    name: 'overtaken update sent again',
    scenario: 'others',
    why: 'What somebody else entered is overwritten.',
    patches: [
      { file: 'pipeline/apply/compare.js', find: 'if (moved.length > normalisedFields.length)', replace: 'if (false)' },
    ],
  },
  {
    name: 'stale record not read again',
    scenario: 'stale',
    why: 'What others changed meanwhile is written back as it was.',
    patches: [
      {
        file: 'runs/rows/write.js',
        find: 'freshMs: rereadsAlways(run) ? FRESH_ALWAYS_MS : FRESH_MS,',
        replace: 'freshMs: Infinity,',
      },
    ],
  },
  {
    name: 'conflict not noticed',
    scenario: 'stale',
    why: 'The field that somebody else set is overwritten.',
    patches: [{ file: 'pipeline/apply/update.js', find: 'if (field !== undefined)', replace: 'if (false)' }],
  },
  {
    name: 'lost field not noticed',
    scenario: 'lossy',
    why: 'Every record loses it.',
    patches: [
      {
        file: 'pipeline/apply/read-back.js',
        find: 'return seen.dropped.length === 0 && !isWithoutEffect(seen);',
        replace: 'return true;',
      },
    ],
  },
  {
    name: 'resume forgets outcomes',
    scenario: 'killed',
    why: 'Rows end twice.',
    patches: [
      { file: 'runs/rows/write.js', find: 'if (run.past.outcomes.has(row.ref.row)) {', replace: 'if (false) {' },
    ],
  },
  {
    name: 'resume sends open rows again',
    scenario: 'blind',
    why: 'What was sent may have taken effect.',
    patches: [{ file: 'runs/rows/plan.js', find: 'const change = intent ?', replace: 'const change = false ?' }],
  },
  {
    name: 'the write-ahead log is cleared away',
    scenario: 'killed',
    why: 'A killed process leaves there what it had noted last.',
    patches: [
      {
        file: 'store/sqlite.js',
        find: 'const connection = withFault(',
        replace:
          "createRequire(import.meta.url)('node:fs').rmSync(path + '-wal', { force: true });\n    const connection = withFault(",
      },
    ],
  },
  {
    name: 'dry run writes',
    scenario: 'rehearsed',
    why: 'It was a rehearsal.',
    patches: [
      { file: 'runs/import.js', find: 'if (!run.request.dryRun) {', replace: 'if (true) {' },
      { file: 'runs/import.js', find: 'if (!run.request.dryRun)\n', replace: 'if (true)\n' },
    ],
  },
  {
    name: 'two writers at once',
    scenario: 'together',
    why: 'Both find nothing, and both create it.',
    patches: [{ file: 'runs/rows/connection.js', find: 'if (run.request.dryRun)', replace: 'if (true)' }],
  },
  {
    name: 'other company',
    scenario: 'filters',
    why: 'The records stand where nobody looks for them.',
    patches: [
      {
        file: 'resources/write.js',
        find: 'this.body = { company };',
        replace: 'this.body = { company: company + 1 };',
      },
    ],
  },
];
