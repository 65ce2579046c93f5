/**
 * Puts a run on the queue from another program, with plain BullMQ, and waits for its summary.
 *
 *   npm install bullmq
 *   QUEUE_URL=redis://127.0.0.1:6379 node enqueue-from-bullmq.mjs
 *
 * What the data may hold: schemas/job-data.schema.json. A worker must be running: rowferry worker.
 */
import { Queue, QueueEvents } from 'bullmq';

const connection = { url: process.env.QUEUE_URL ?? 'redis://127.0.0.1:6379' };
const queue = new Queue('rowferry', { connection });
const events = new QueueEvents('rowferry', { connection });

try {
  await events.waitUntilReady();
  events.on('progress', ({ jobId, data: { phase, done, total } }) => {
    console.error(`job ${jobId}: ${phase} ${done}/${total ?? '?'}`);
  });

  const job = await queue.add(
    'import',
    {
      // The name of a job file in the worker's jobs folder, or the job itself, as here.
      job: {
        kind: 'import',
        resource: 'asset',
        match: { key: 'serial_number' },
        columns: { Name: 'name', Serial: 'serial_number' },
      },
      // Up to 10,000 rows; more belong in a file below a folder that the worker may read: file: 'inbox/assets/a.csv'.
      rows: [
        { Name: 'Laptop 14', Serial: 'EX-0001' },
        { Name: 'Laptop 16', Serial: 'EX-0002' },
      ],
      options: { dry_run: process.env.DRY_RUN === '1' },
    },
    // A run that fails is continued by the next attempt; rows that are written are not written again.
    { attempts: 3, backoff: { type: 'exponential', delay: 15_000 } },
  );

  // Rejects where the job was refused; its message lists every fault.
  const summary = await job.waitUntilFinished(events);
  console.log(JSON.stringify({ status: summary.status, rows: summary.rows, warnings: summary.warnings }, null, 2));
  process.exitCode = summary.status === 'succeeded' ? 0 : 1;
} finally {
  await events.close();
  await queue.close();
}
