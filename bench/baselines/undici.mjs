/**
 * undici alone: posts bodies that are ready, one a line of a file, so many in flight, and reads each answer to its end.
 *
 *   node bench/baselines/undici.mjs FILE URL IN_FLIGHT
 *
 * `dispatch` is undici's lowest door and twice as fast as `request`; no promise a request. Prints {"posted": n}.
 */
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

const [file, url, inFlight] = process.argv.slice(2);
const bodies = readFileSync(file, 'utf8').split('\n');
bodies.pop();
const pool = new Pool(url, { connections: Number(inFlight), pipelining: 1 });
const headers = { 'content-type': 'application/json', authorization: 'Bearer bench' };

await new Promise((done, fail) => {
  let sent = 0;
  let over = 0;
  const next = () => {
    if (sent === bodies.length) return;
    let status = 0;
    const chunks = [];
    pool.dispatch(
      { origin: url, path: '/api/v2/asset?company=1', method: 'POST', headers, body: bodies[sent++] },
      {
        onRequestStart() {},
        onResponseStart(_controller, code) {
          status = code;
        },
        onResponseData(_controller, chunk) {
          chunks.push(chunk);
        },
        onResponseEnd() {
          if (status !== 201) fail(new Error(`answered ${status}`));
          JSON.parse(Buffer.concat(chunks).toString());
          if (++over === bodies.length) done();
          else next();
        },
        onResponseError(_controller, error) {
          fail(error);
        },
      },
    );
  };
  for (let i = 0; i < Number(inFlight); i++) next();
});
await pool.close();
console.info(JSON.stringify({ posted: bodies.length }));
