/** A part of the tests that can be run by itself: `npm run test:<name>`, the fast one `npm test`. */
export interface Lane {
  readonly name: string;
  /** What it proves, for docs/design/tests.md. */
  readonly proves: string;
  /** Suites that leave nothing behind in their process: one process runs many of them, and loads the sources once. */
  readonly together: readonly string[];
  /** Suites that need a process of their own: they start servers, patch modules, or change what a process has once. */
  readonly alone: readonly string[];
}

/** A file that several lanes name belongs to the first of them. */
export const LANES: readonly Lane[] = [
  {
    name: 'files',
    proves:
      'Readers and writers of CSV, XLSX, ODS and NDJSON, cell by cell against csv-parse, SheetJS, exceljs and what LibreOffice wrote; the corpus of damaged files; fuzz.',
    together: [
      'test/corpus/**/*.test.ts',
      'test/files/{differential,differential-csv,differential-xlsx,ods-corpus,refused,table-write-process,xlsx-hostile}.test.ts',
      'test/report/reconcile.test.ts',
    ],
    alone: ['test/fuzz/**/*.test.ts'],
  },
  {
    name: 'properties',
    proves:
      'What holds for any values: the store of a run, lists and delta readings of services that change meanwhile, fingerprints, plain cells, schedules at every change of a clock.',
    together: [
      'test/pipeline/{fingerprint,match-grid}.test.ts',
      'test/runs/schedule/slots.test.ts',
      'test/service/{mirror-sandbox,mirror-simulation,whole-list-log,whole-list-sandbox,whole-list-simulation}.test.ts',
      'test/store/run-store.test.ts',
    ],
    alone: [],
  },
  {
    name: 'fast',
    proves:
      'Every room, the main job from a sheet to its reports, a worker on the embedded queue, a kill with its resume; documents and fixtures against the code.',
    together: [
      'test/library/!(examples).test.ts',
      'test/{blank-workbook,cli,console-model,export,files,hostile,model,pipeline,report,resources,runs,sandbox,service,store,suggest,trace}/**/*.test.ts',
      'test/e2e/{custom-fields,export,fixtures,references,reports,round-trip,update-rules}.test.ts',
      'test/compact/**/*.test.ts',
      'test/crash/resume.test.ts',
      'test/invariants/**/*.test.ts',
      'test/api/*.test.ts',
      'test/worker/e2e/embedded.test.ts',
      'test/worker/jobs/{data,roots,swapped,target}.test.ts',
      'test/worker/operations/{containers,metrics,notifier}.test.ts',
      'test/worker/parts/pack.test.ts',
      'test/runs/queue-address.test.ts',
    ],
    alone: ['test/!(package).test.ts'],
  },
  {
    name: 'e2e',
    proves:
      'Imports, updates, exports and nights against the sandbox: nothing lost, guessed, doubled, or asked for more often than needed; who may sign in.',
    together: ['test/e2e/!(memory|update-held|update-faults|update-meanwhile).test.ts', 'test/api/access/*.test.ts'],
    alone: ['test/e2e/*.test.ts', 'test/package.test.ts', 'test/library/examples.test.ts'],
  },
  {
    name: 'worker',
    proves:
      'Queue, drop folder and schedules with real workers on the embedded queue, Redis and PostgreSQL: deaths, lost queues, forged jobs, parts carried by several.',
    together: ['test/worker/**/!(operations).test.ts'],
    alone: ['test/worker/**/*.test.ts', 'test/conformance/**/*.test.ts'],
  },
  {
    name: 'browser',
    proves:
      'The console in Chromium, with a worker and the sandbox: every page and state by pointer and by keyboard, light and dark, on a phone and on a wall, with axe and without a request elsewhere.',
    together: ['test/console/*.test.ts'],
    alone: [],
  },
  {
    name: 'crash',
    proves:
      'Processes killed at every milestone and at random moments, full disks, little memory: one outcome a row, nothing twice.',
    together: ['test/crash/!(disk-full-every).test.ts'],
    alone: ['test/crash/disk-full-every.test.ts'],
  },
  {
    name: 'judges',
    proves:
      'The invariant checker catches every planted bug; the simulation, the matrix of undocumented behaviours and clocks that jump find none.',
    together: ['test/{bench,matrix,plants}/**/*.test.ts'],
    alone: ['test/{clock,simulation}/**/*.test.ts'],
  },
];

/** The longest, begun first so that no core waits for one of them at the end. */
export const LONGEST: readonly string[] = [
  'test/console/import-states.test.ts',
  'test/console/pages.test.ts',
  'test/worker/e2e/deaths.test.ts',
  'test/worker/e2e/lost-queue.test.ts',
  'test/worker/e2e/one-writer.test.ts',
  'test/matrix/import-matrix.test.ts',
  'test/crash/failpoints-worker.test.ts',
  'test/worker/jobs/process.test.ts',
  'test/e2e/network.test.ts',
  'test/console/import.test.ts',
  'test/worker/e2e/api-kill.test.ts',
  'test/worker/e2e/sigterm.test.ts',
  'test/worker/store/store.test.ts',
  'test/console/flow.test.ts',
  'test/e2e/open-effects.test.ts',
  'test/console/nights.test.ts',
  'test/api/access/door.test.ts',
  'test/worker/e2e/upload.test.ts',
  'test/conformance/part-runner.test.ts',
  'test/simulation/simulation.test.ts',
  'test/crash/failpoints.test.ts',
  'test/crash/kill.test.ts',
  'test/matrix/beyond.test.ts',
  'test/plants/plants.test.ts',
  'test/e2e/matching.test.ts',
  'test/worker/e2e/reconcile.test.ts',
  'test/worker/e2e/schedule.test.ts',
  'test/console/export.test.ts',
  'test/crash/reconcile-kill.test.ts',
  'test/worker/e2e/drop.test.ts',
  'test/worker/store/away.test.ts',
  'test/runs/retry.test.ts',
  'test/cli/process.test.ts',
  'test/worker/e2e/embedded.test.ts',
];
