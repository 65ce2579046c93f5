// A process of its own on an embedded queue, told what to do line by line on stdin; every answer is one line of JSON.
// argv: the compiled src/worker/store/embedded/open.js, the home.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { createPostgresBackend, Worker } from 'bullmq';

const [, , module, home] = process.argv;
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const { openEmbedded } = await import(pathToFileURL(module).href);
const pool = await openEmbedded(home, {
  notice: (level, text) => say({ notice: text, level }),
  signal: new AbortController().signal,
});
let client;
let worker;

const commands = {
  owns: () => pool.owns(),
  query: async ({ text, params }) => (await pool.query(text, params)).rows,
  connect: async () => {
    client = await pool.connect();
    client.on('error', (error) => say({ clientError: error.message, code: error.code }));
    client.on('notification', ({ channel, payload }) => say({ channel, payload, at: Date.now() }));
  },
  client: async ({ text, params }) => (await client.query(text, params)).rows,
  release: () => client.release(),
  // Adds one to a counter in two statements, many times: whoever comes between loses an addition.
  count: async ({ times }) => {
    for (let i = 0; i < times; i++) {
      const own = await pool.connect();
      await own.query('BEGIN');
      const { rows } = await own.query('SELECT n FROM counter');
      await own.query('UPDATE counter SET n = $1', [rows[0].n + 1]);
      await own.query('COMMIT');
      own.release();
    }
  },
  work: async ({ queue, ms, concurrency }) => {
    worker = new Worker(
      queue,
      async (job) => {
        say({ begun: job.data.i });
        await new Promise((resolve) => setTimeout(resolve, ms));
      },
      {
        connection: pool,
        concurrency,
        runRetryDelay: 100,
        lockDuration: 4_000,
        stalledInterval: 1_000,
        maxStalledCount: 100,
      },
      createPostgresBackend,
    );
    worker.on('completed', (job) => say({ completed: job.data.i }));
    worker.on('error', (error) => say({ workerError: error.message }));
    await worker.waitUntilReady();
  },
  end: async () => {
    await worker?.close();
    await pool.end();
  },
};

say({ ready: process.pid, owns: await pool.owns() });
const lines = createInterface({ input: process.stdin });
for await (const line of lines) {
  const { id, command, ...rest } = JSON.parse(line);
  Promise.resolve()
    .then(() => commands[command](rest))
    .then(
      (result) => say({ id, result: result ?? null }),
      (error) => say({ id, error: error.message, code: error.code ?? null }),
    );
}
