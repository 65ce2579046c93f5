/**
 * The service that speed is measured against: a process of its own that answers as fast as Node can, so that it does not
 * bound what is measured. It knows just enough of the interface: assets (create, replace, read, list by pages of 25 in
 * either order, filter and probe by serial number), one category, and no other
 * look-ups. It checks nothing: the sandbox does that.
 *
 *   node bench/server.mjs [latency ms]        prints {"port": n}; ends with its parent, or on SIGTERM
 *
 * Control, not part of the service: POST /bench/reset, POST /bench/latency?ms=, POST /bench/bare (writes are answered with nothing), POST /bench/seed?file= (create bodies,
 * one a line), POST /bench/keep?file= (writes every create body to the file), GET /bench/counts.
 */
import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { answers } from './measure/wire.mjs';

const PAGE = 25;
/** When the records of a seed were written: each a second after the one before. */
const SEEDED = Date.UTC(2026, 0, 5, 8);
const COMPANY = '{"id":1,"name":"Bench","status":"active"}';
const CATEGORY = '{"id":1,"name":"Laptop","subcategory":null}';
let latency = Number(process.argv[2] ?? 0);
/** Read forms by id - 1, as text; which of them were written over HTTP, the last one last; and ids by serial number. */
let records = [];
let touched = new Set();
let bySerial = new Map();
let counts;
let kept;
let bare = false;

function reset() {
  records = [];
  touched = new Set();
  bySerial = new Map();
  counts = { reads: 0, writes: 0, creates: 0, twice: 0, first: 0, last: 0 };
  if (kept !== undefined) closeSync(kept);
  kept = undefined;
}

const SERIAL = /"serial_number":"((?:[^"\\]|\\.)*)"/;

function put(index, body, modified) {
  const serial = SERIAL.exec(body)?.[1];
  if (serial !== undefined) {
    const ids = bySerial.get(serial);
    if (ids === undefined) bySerial.set(serial, index + 1);
    else if (ids !== index + 1) counts.twice++;
  }
  // The read form: without the company, which reads do not show. The only reference is the one category.
  const rest = body
    .slice(1)
    .replace(/"company":\d+,?/, '')
    .replace(/"category":\{[^}]*\}/, `"category":${CATEGORY}`);
  records[index] = `{"id":${index + 1},"created_date":"2026-01-05T08:00:00.000Z","modified_date":"${modified}",${rest}`;
}

function page(path, query) {
  const number = Number(query.get('page') ?? 1);
  const from = (number - 1) * PAGE;
  const to = Math.min(records.length, from + PAGE);
  let rows;
  if (query.get('ordering') === '-modified_date') rows = newestFirst(from, to);
  else rows = records.slice(from, to);
  const next = to < records.length ? `"http://127.0.0.1/api/v2${path}?company=1&page=${number + 1}"` : 'null';
  return `{"count":${records.length},"next":${next},"previous":${number > 1 ? '""' : 'null'},"results":[${rows.join(',')}]}`;
}

/** What was written since the seed, the last first; then the others, whose last one is the latest, too. */
function newestFirst(from, to) {
  const first = [...touched].reverse();
  const rows = first.slice(from, to).map((index) => records[index]);
  for (let index = records.length - 1, at = first.length; index >= 0 && at < to; index--) {
    if (touched.has(index)) continue;
    if (at >= from) rows.push(records[index]);
    at++;
  }
  return rows;
}

/** A list that was narrowed: page `number` of the items. */
function list(items, number = 1) {
  const rows = items.slice((number - 1) * PAGE, number * PAGE);
  const next = number * PAGE < items.length ? `"http://127.0.0.1/api/v2/?page=${number + 1}"` : 'null';
  return `{"count":${items.length},"next":${next},"previous":${number > 1 ? '""' : 'null'},"results":[${rows.join(',')}]}`;
}

function found(serials) {
  return serials.flatMap((serial) => {
    const id = bySerial.get(JSON.stringify(serial).slice(1, -1));
    return id === undefined ? [] : [records[id - 1]];
  });
}

function stamp(at = Date.now()) {
  return new Date(at).toISOString();
}

/** Status and body of a request. */
function answer(method, target, body) {
  const cut = target.indexOf('?');
  const path = cut < 0 ? target : target.slice(0, cut);
  if (method === 'POST' && path === '/api/v2/asset') {
    counts.writes++;
    counts.creates++;
    if (kept !== undefined) writeSync(kept, `${body}\n`);
    const index = records.length;
    put(index, body, stamp());
    touched.add(index);
    return [201, bare ? '' : records[index]];
  }
  const one = /^\/api\/v2\/asset\/(\d+)\/?$/.exec(path);
  if (one && method === 'PUT') {
    counts.writes++;
    const index = Number(one[1]) - 1;
    if (!records[index]) return [404, '{"detail":"Not found."}'];
    put(index, body, stamp());
    touched.delete(index);
    touched.add(index);
    return [200, bare ? '' : records[index]];
  }
  if (method !== 'GET') return [405, '{"detail":"Method not allowed."}'];
  counts.reads++;
  if (one) return records[Number(one[1]) - 1] ? [200, records[Number(one[1]) - 1]] : [404, '{"detail":"Not found."}'];
  const query = new URLSearchParams(cut < 0 ? '' : target.slice(cut));
  if (path === '/api/v2/asset/') {
    const serial = query.get('serial_number');
    if (serial === 'list' && body !== '') {
      const there = found(JSON.parse(body).list ?? []).map((record) => SERIAL.exec(record)?.[1]);
      const shown = there.map((text) => `{"serial_number":"${text}"}`);
      return [200, list(shown, Number(query.get('page') ?? 1))];
    }
    if (serial !== null) return [200, list(found([serial]))];
    return [200, page('/asset/', query)];
  }
  if (/^\/api\/v2\/company\/1\/?$/.test(path)) return [200, COMPANY];
  if (/^\/api\/v2\/company\/?$/.test(path)) return [200, list([COMPANY])];
  return /^\/api\/v2\/[a-z-]+\/?$/.test(path) ? [200, list([])] : [404, '{"detail":"Not found."}'];
}

async function control(target) {
  const { pathname, searchParams: query } = new URL(target, 'http://bench');
  if (pathname === '/bench/counts') return JSON.stringify({ ...counts, records: records.length });
  if (pathname === '/bench/reset') reset();
  else if (pathname === '/bench/bare') bare = true;
  else if (pathname === '/bench/latency') latency = Number(query.get('ms'));
  else if (pathname === '/bench/keep') kept = openSync(query.get('file'), 'w');
  else if (pathname === '/bench/seed') {
    const bodies = createInterface({ input: createReadStream(query.get('file')), crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of bodies) if (line !== '') put(records.length, line, stamp(SEEDED + records.length * 1_000));
  }
  return '{}';
}

/** Answers wait in one queue with one timer: all wait equally long, so they become due in order. */
const waiting = [];
let from = 0;
let armed = false;
function due() {
  armed = false;
  const now = performance.now();
  while (from < waiting.length && waiting[from].at <= now) waiting[from++].send();
  if (from > 1_024) {
    waiting.splice(0, from);
    from = 0;
  }
  if (from < waiting.length) arm(waiting[from].at - now);
}
function arm(ms) {
  armed = true;
  setTimeout(due, Math.max(1, ms));
}

reset();
const server = createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  answers(socket, (method, target, body, send) => {
    if (target.startsWith('/bench/')) {
      control(target).then((text) => send(200, text));
      return;
    }
    counts.last = performance.now();
    counts.first ||= counts.last;
    if (latency === 0) {
      send(...answer(method, target, body));
      return;
    }
    waiting.push({ at: performance.now() + latency, send: () => send(...answer(method, target, body)) });
    if (!armed) arm(latency);
  });
});
server.listen(0, '127.0.0.1', () => console.info(JSON.stringify({ port: server.address().port })));
process.on('SIGTERM', () => process.exit(0));
// A parent that was killed leaves nothing behind.
const parent = process.ppid;
for (;;) {
  await pause(2_000, undefined, { ref: false });
  if (process.ppid !== parent) process.exit(0);
}
