import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, openDatabase } from './sqlite.js';

/**
 * What runs leave to later ones, for all jobs, services and companies of a data folder. Each part has one owner: `name`,
 * `written` and `behaviour` src/service/known-ids.ts, `night` and `absence` src/runs/reconcile/nights.ts, `appended`
 * src/runs/rows/append-guard.ts, `creator` src/runs/rows/just-created.ts, `last_run` src/runs/run/list.ts. `service` is the address where the
 * company stands beside it, else `serviceName`. `identity` and `ticket` src/worker/jobs/home.ts, `sign_in_link` and `console` src/api/access/links.ts, `api_order` src/api/runs/orders.ts. Texts of people are kept as
 * JSON: SQLite ends a plain one at a NUL, and knows no half of a surrogate pair.
 */
const SCHEMA = `
  create table name (
    number integer primary key, service text not null, kind text not null, key text not null, id integer not null, name text not null,
    unique (service, kind, id, key)
  ) strict;
  create table written (
    service text not null, resource text not null, record text not null, fields text not null, primary key (service, resource, record)
  ) strict, without rowid;
  create table behaviour (service text primary key, value text not null) strict;
  create table night (
    job text not null, company integer not null, service text not null, run text not null, ended text not null,
    primary key (job, company, service, run)
  ) strict, without rowid;
  create table absence (
    job text not null, company integer not null, service text not null, id integer not null, since text not null,
    absences integer not null, sha256 text not null, run text not null,
    primary key (job, company, service, id)
  ) strict, without rowid;
  create table last_run (
    job text not null, company integer not null, run text not null, rows integer not null, at integer not null,
    primary key (job, company)
  ) strict, without rowid;
  create table appended (
    job text not null, company integer not null, service text not null, rows text not null, run text not null,
    primary key (job, company, service, rows)
  ) strict, without rowid;
  create table creator (
    service text not null, resource text not null, run text not null, ended real not null, primary key (service, resource, run)
  ) strict, without rowid;
  create table identity (id text not null) strict;
  create table sign_in_link (sha256 text primary key, until integer not null) strict, without rowid;
  create table console (
    host text not null, pid integer not null, url text not null, primary key (host, pid)
  ) strict, without rowid;
  create table api_order (key text primary key, run text not null unique, hash text not null, at integer not null) strict, without rowid;
  create table ticket (run text primary key, job text not null, ended integer not null, content text not null) strict, without rowid;
`;

/** Whether anything was left yet. */
export const homeExists = (home: string): boolean => existsSync(homeFile(home));

const homeFile = (home: string): string => join(home, 'home.db');

/** Opens the database of a data folder, which must be there, and makes it where it is missing. The processes of a machine share it. */
export function openHome(home: string): Database {
  return openDatabase(homeFile(home), {
    label: 'The memory of earlier runs',
    schema: SCHEMA,
    version: 7,
    remedy:
      'Restore the file from a backup, or use the version of rowferry that wrote it. Without it, fields that reads never show ' +
      'and the nights of jobs are not known.',
    shared: true,
    skipCheck: true,
  });
}

/** The same for one thing. */
export function withHome<T>(home: string, work: (database: Database) => T): T {
  const database = openHome(home);
  try {
    return work(database);
  } finally {
    database.close();
  }
}
