// Made from schemas/openapi.json by `node build/client-types.mjs`: not to be edited.

export type Session = { "name": string; "role": "viewer" | "operator" | "approver"; "via": "user" | "link" | "key" | "socket"; /** Address of the service. */ "service": string; "company": number; /** Null where it could not be read. */ "company_name": string | null; /** False where the address of the service looks like a test. */ "production": boolean; "version": string; /** Bytes. */ "max_upload": number; };

export type Problem = { "type": string; "title": string; "status": number; "code": "usage" | "failed"; /** What is wrong, and what to do, in sentences. */ "detail": string; /** Each fault by itself, where there are several. */ "errors"?: (string)[]; };

export type Accepted = { /** Of the run that this began, or takes up. */ "id": string; };

export type Order = { /** The name of a job file, or the job itself with the keys of one. */ "job": string | Record<string, unknown>; /** What `POST /files` answered, its id, or a path that the worker may read. */ "file"?: string; /** In place of `file`: heading to value. */ "rows"?: (Record<string, unknown>)[]; /** Cells that are read as if something else stood there; each names its `row`, or with `from` what the cell shows. */ "corrections"?: (Correction)[]; /** What the flags of the command line say otherwise. */ "options"?: { /** Say what would happen; nothing is written to the service. */ "dry_run"?: boolean; /** Reconcile only: write the differences, or only report them. Wins over `dry_run` and the job. */ "apply"?: boolean; /** Go on although a brake of the job would stop the run. */ "force"?: boolean; /** Company id; wins over the job and the settings of the worker. */ "company"?: number; /** Import only: a dry run of the same. A row that would now be written otherwise than it planned is a conflict. */ "plan_of"?: string; }; "kind": "import" | "export" | "reconcile"; /** A run that failed is not tried again by itself. */ "once"?: boolean; };

export type Correction = { /** The heading, as job files name it. */ "column": string; /** What stands there instead, as if it had been typed. */ "value": string; "row"?: number; /** In place of `row`: every cell of the column that shows this. */ "from"?: string; };

export type Runs = { "runs": (Run)[]; "next": string | null; };

export type Run = { "id": string; "status": "waiting" | "running" | "succeeded" | "partial" | "braked" | "failed" | "interrupted" | "unfinished"; "kind": "import" | "export" | "reconcile" | "undo"; "manner"?: "retry" | "approved"; /** The run that it retries, undoes or carries out. */ "of_run"?: string; "job": string; /** Its name, without folders. */ "file": string; "dry_run": boolean; "started_at": string; "rows": number | null; "needs_person": number | null; "outcomes": { "created": number; "updated": number; "unchanged": number; "skipped": number; "invalid": number; "duplicate": number; "ambiguous": number; "at_risk": number; "conflict": number; "rejected": number; "failed": number; "unknown": number; "not_attempted": number; } | null; /** Why a run that succeeded is not all well: `Texts were cut`. */ "verdict"?: string; /** Somebody said that nothing more is to be done with it. */ "aside"?: true; /** Why that is so without anybody: its job was begun anew elsewhere. */ "aside_reason"?: string; };

export type RunDetail = { "id": string; "status": "waiting" | "running" | "succeeded" | "partial" | "braked" | "failed" | "interrupted" | "unfinished"; "kind": "import" | "export" | "reconcile" | "undo"; "manner"?: "retry" | "approved"; /** The run that it retries, undoes or carries out. */ "of_run"?: string; "job": string; /** Its name, without folders. */ "file": string; "dry_run": boolean; "started_at": string; "rows": number | null; "needs_person": number | null; "outcomes": { "created": number; "updated": number; "unchanged": number; "skipped": number; "invalid": number; "duplicate": number; "ambiguous": number; "at_risk": number; "conflict": number; "rejected": number; "failed": number; "unknown": number; "not_attempted": number; } | null; /** Why a run that succeeded is not all well: `Texts were cut`. */ "verdict"?: string; /** Somebody said that nothing more is to be done with it. */ "aside"?: true; /** Why that is so without anybody: its job was begun anew elsewhere. */ "aside_reason"?: string; /** Whether its rows and reports lie in the data folder of this worker. */ "here": boolean; "resource"?: string; "company"?: number; /** The undo that puts back what it wrote, or has. */ "undone_by"?: string; /** Cells that were corrected in the console. */ "corrections"?: number; /** What `POST /runs` was given, for somebody who takes it up from here. */ "ordered"?: { "job": string | Record<string, unknown>; /** Of the job file as the run read it. */ "job_etag"?: string; "file"?: string; "corrections"?: (Correction)[]; }; /** Of a run that waits or works. */ "progress": { "phase": string; "done": number; "total": number | null; "outcomes": { "created": number; "updated": number; "unchanged": number; "skipped": number; "invalid": number; "duplicate": number; "ambiguous": number; "at_risk": number; "conflict": number; "rejected": number; "failed": number; "unknown": number; "not_attempted": number; }; /** When each phase began; the last of them. */ "phases"?: ({ "phase": string; "at": string; })[]; /** The service asked to be left alone until then. */ "paused_until"?: string; /** The service does not answer; the run waits for it. */ "service_away"?: true; } | null; /** summary.json, once it has ended. */ "summary": Record<string, unknown> | null; /** Why it was braked, failed or was refused. */ "reason": string | null; "reports": (string)[]; "actions": { "resume"?: { "allowed": boolean; /** Why not, in a sentence. */ "why"?: string; }; "retry"?: { "allowed": boolean; /** Why not, in a sentence. */ "why"?: string; }; "undo"?: { "allowed": boolean; /** Why not, in a sentence. */ "why"?: string; }; "approve"?: { "allowed": boolean; /** Why not, in a sentence. */ "why"?: string; }; "stop"?: { "allowed": boolean; /** Why not, in a sentence. */ "why"?: string; }; }; /** Of its job on the queue. */ "state"?: string; /** Of a job that failed: whether the order has to change. */ "failure"?: "usage" | "failed"; /** The machine of the worker that has it, or had. */ "host"?: string; };

export type Rows = { "rows": (Row)[]; /** With `cells=true`. */ "headings"?: (string)[]; /** Rows that the filter lets through, so far. */ "total": number; "next": string | null; };

export type Row = { "row": number; /** Null while the run has not come to it. */ "outcome": "created" | "updated" | "unchanged" | "skipped" | "invalid" | "duplicate" | "ambiguous" | "at_risk" | "conflict" | "rejected" | "failed" | "unknown" | "not_attempted" | null; "key": string; "id": number | null; "changed": (string)[]; "issues": ({ "code": string; "severity": "error" | "warning"; "message": string; "column"?: string; "field"?: string; "value"?: string; "origin": "local" | "service"; })[]; /** With `cells=true`: as a person sees them. */ "cells"?: (string)[]; };

export type Story = { "row": number; /** Null while the run has not come to it. */ "outcome": "created" | "updated" | "unchanged" | "skipped" | "invalid" | "duplicate" | "ambiguous" | "at_risk" | "conflict" | "rejected" | "failed" | "unknown" | "not_attempted" | null; "key": string; "id": number | null; "changed": (string)[]; "issues": ({ "code": string; "severity": "error" | "warning"; "message": string; "column"?: string; "field"?: string; "value"?: string; "origin": "local" | "service"; })[]; "cells": (string)[]; "headings": (string)[]; /** Positions of cells that were corrected, from 0. */ "corrected": (number)[]; "changes": ({ "field": string; "old": string; "new": string; "kind": "set" | "clear" | "preserved" | "at_risk" | "kept"; })[]; /** The record as it was before an update. */ "found": { "id": number; "record"?: unknown; } | null; /** Null where nothing was sent. */ "sent": { "operation": "create" | "update"; "times": number; "at": string | null; } | null; };

export type Fault = { "code": string; "meaning": string; "column": string | null; "field": string | null; "value": string | null; "message": string; "rows": number; /** The first of these rows. */ "first": number; };

export type Plan = { "created": number; "updated": number; "unchanged": number; /** Values that updates empty. */ "cleared": number; "at_risk": number; "brakes": ({ "name": string; "limit": string; "found": string; /** It stopped the run. */ "tripped": boolean; /** It would have, and somebody let the run pass. */ "overridden"?: boolean; })[]; "fields": ({ "field": string; "records": number; "first": ({ "row": number; "key": string; "old": string; "new": string; "kind": string; })[]; })[]; "creates": ({ "row": number; "key": string; "values": ({ "field": string; "value": string; })[]; })[]; "warnings": (string)[]; };

export type File = { "id": string; /** What `POST /runs` and the others take as `file`; the id will do, too. */ "file": string; "name": string; "bytes": number; "sha256": string; };

export type Table = { "format": string; "encoding": string | null; "delimiter": string | null; "sheet": string | null; "sheets": (string)[]; "header_row": number | null; /** As job files name the columns. */ "headings": (string)[]; /** The first rows below the heading, as a person sees them. */ "first": (GridRow)[]; /** What its rows seem to be. */ "resource": "asset" | "contract" | "supplier" | "customer"; "evidence": (string)[]; "warnings": (string)[]; };

export type GridRow = { /** The number that the spreadsheet program shows. */ "row": number; "cells": (string)[]; };

export type Suggestion = { "resource": string; "rows": number; "columns": ({ /** As the job names the column. */ "heading": string; /** From 1. */ "column": number; "field": string | null; "confidence": "high" | "medium" | "none"; "evidence": (string)[]; "remarks": (string)[]; /** Why it is not mapped. */ "why": string | null; "alternatives": ({ "field": string; "why": string; })[]; "samples": (string)[]; /** Share of its cells, 0 to 1. */ "blank": number; /** Share of its cells that fit the field, 0 to 1; null where unmapped or undecided. */ "converts": number | null; })[]; "key": { "field": string; "heading": string; "blank": number; "repeats": number; "fits": boolean; } | null; /** Fields that a new record must have, and no column gives. */ "missing": (string)[]; /** What a person must decide next. */ "next": string | null; "warnings": (string)[]; /** The job file, YAML. */ "text": string; /** The same as an object: what `POST /runs` takes as `job`. */ "job": Record<string, unknown>; };

export type Resource = { "name": string; "imported": boolean; "exported": boolean; "fields": (Field)[]; };

export type Field = { "name": string; "label": string; "group": string; "type": "text" | "number" | "date" | "boolean" | "choice" | "reference"; "required": boolean; /** Of a choice; none where they are too many or come from the service. */ "choices": (string)[]; /** Of a reference: what `GET /names?of=` takes. */ "of": string | null; /** False where it can only be read. */ "written": boolean; /** False where a record that is there keeps what it has. */ "updated": boolean; };

export type Names = { "names": (string)[]; "more": boolean; /** Why there are none, or not all, in a sentence. */ "lack": string | null; };

export type Job = { "name": string; /** Null where the file is wrong. */ "kind": "import" | "export" | "reconcile" | null; "resource": string | null; "schedule": { "cron": string; "timezone": string; "file": string | null; "next": string | null; } | null; /** What waits in its drop folder. */ "inbox": { "waiting": number; "folder": string; } | null; "last": Run | null; "problems": ({ "line": number | null; "column": number | null; "severity": "error" | "warning"; "message": string; })[]; };

export type JobFile = { "name": string; /** Null where the file is wrong. */ "kind": "import" | "export" | "reconcile" | null; "resource": string | null; "schedule": { "cron": string; "timezone": string; "file": string | null; "next": string | null; } | null; /** What waits in its drop folder. */ "inbox": { "waiting": number; "folder": string; } | null; "last": Run | null; "problems": ({ "line": number | null; "column": number | null; "severity": "error" | "warning"; "message": string; })[]; /** As an object that `POST /runs` takes as `job`: without `notify` and `schedule`. Absent where the file is wrong. */ "job"?: Record<string, unknown>; "text": string; "etag": string; };

export type JobChecked = { /** Null where the file is wrong. */ "kind": "import" | "export" | "reconcile" | null; "resource": string | null; "problems": ({ "line": number | null; "column": number | null; "severity": "error" | "warning"; "message": string; })[]; /** As the file would have it. */ "text": string; };

export type Nights = { "nights": (Night)[]; "next": string | null; };

export type Night = { "run": string; "started_at": string; "status": "waiting" | "running" | "succeeded" | "partial" | "braked" | "failed" | "interrupted" | "unfinished"; /** Why a run that succeeded is not all well: `Texts were cut`. */ "verdict"?: string; "apply": boolean; "rows": number; "differences": number; "put_right": number; "created": number; "orphans": number; "new_orphans": number; /** Set or archived, as the job says. */ "orphans_acted": number; "reason": string | null; "approved_by": string | null; /** The undo that puts back what it wrote, or has. */ "undone_by"?: string; };

export type Overview = { /** Stopped nights, files to correct, what failed; the latest first. */ "needs_person": (Run)[]; "running": (Run)[]; "next": ({ "job": string; "at": string; })[]; /** The last 30, in the time zone asked for. */ "days": ({ "date": string; "outcomes": { "created": number; "updated": number; "unchanged": number; "skipped": number; "invalid": number; "duplicate": number; "ambiguous": number; "at_risk": number; "conflict": number; "rejected": number; "failed": number; "unknown": number; "not_attempted": number; }; })[]; "service": { /** Null where it was not asked yet. */ "ok": boolean | null; /** Requests a second that it bears, as learned. */ "rate": number | null; /** Requests that wait for their turn. */ "waiting": number; "paused_until": string | null; }; };

export type Health = { "ok": boolean; "details": Record<string, string>; };

export type Queue = { /** For people. */ "address": string; "workers": number; "roots"?: (string)[]; "counts": { "waiting": number; "active": number; "delayed": number; "failed": number; "completed": number; }; /** The first of them. */ "waiting": ({ "id": string; "run": string | null; /** Of one that takes up an earlier run what is done with that: `retry`, `undo` or `approve`. */ "kind": string; "job": string; "file": string | null; "at": string; "progress": { "phase": string; "done": number; "total": number | null; "outcomes": { "created": number; "updated": number; "unchanged": number; "skipped": number; "invalid": number; "duplicate": number; "ambiguous": number; "at_risk": number; "conflict": number; "rejected": number; "failed": number; "unknown": number; "not_attempted": number; }; /** When each phase began; the last of them. */ "phases"?: ({ "phase": string; "at": string; })[]; /** The service asked to be left alone until then. */ "paused_until"?: string; /** The service does not answer; the run waits for it. */ "service_away"?: true; } | null; "reason": string | null; })[]; "active": ({ "id": string; "run": string | null; /** Of one that takes up an earlier run what is done with that: `retry`, `undo` or `approve`. */ "kind": string; "job": string; "file": string | null; "at": string; "progress": { "phase": string; "done": number; "total": number | null; "outcomes": { "created": number; "updated": number; "unchanged": number; "skipped": number; "invalid": number; "duplicate": number; "ambiguous": number; "at_risk": number; "conflict": number; "rejected": number; "failed": number; "unknown": number; "not_attempted": number; }; /** When each phase began; the last of them. */ "phases"?: ({ "phase": string; "at": string; })[]; /** The service asked to be left alone until then. */ "paused_until"?: string; /** The service does not answer; the run waits for it. */ "service_away"?: true; } | null; "reason": string | null; })[]; /** The latest of them. */ "failed": ({ "id": string; "run": string | null; /** Of one that takes up an earlier run what is done with that: `retry`, `undo` or `approve`. */ "kind": string; "job": string; "file": string | null; "at": string; "progress": { "phase": string; "done": number; "total": number | null; "outcomes": { "created": number; "updated": number; "unchanged": number; "skipped": number; "invalid": number; "duplicate": number; "ambiguous": number; "at_risk": number; "conflict": number; "rejected": number; "failed": number; "unknown": number; "not_attempted": number; }; /** When each phase began; the last of them. */ "phases"?: ({ "phase": string; "at": string; })[]; /** The service asked to be left alone until then. */ "paused_until"?: string; /** The service does not answer; the run waits for it. */ "service_away"?: true; } | null; "reason": string | null; })[]; };

export interface Operations {
  /** Who is signed in, and what they look at */
  "GET /session": { query: {  }; body: undefined; answer: Session };
  /** Sign in with name and password; a cookie holds the session */
  "POST /session": { query: {  }; body: { "name": string; "password": string; }; answer: Session };
  /** Sign out */
  "DELETE /session": { query: {  }; body: undefined; answer: undefined };
  /** Orders a run; it has its id at once. */
  "POST /runs": { query: {  }; body: Order; answer: Accepted };
  /** The runs, newest first. */
  "GET /runs": { query: { "job"?: string; "kind"?: "import" | "export" | "reconcile" | "undo"; "status"?: string; "q"?: string; "after"?: string; "limit"?: number; }; body: undefined; answer: Runs };
  /** A run, as far as it is. */
  "GET /runs/{id}": { query: {  }; body: undefined; answer: RunDetail };
  /** How it goes on, as it goes on (server-sent events). */
  "GET /runs/{id}/events": { query: {  }; body: undefined; answer: Response };
  /** Its rows, with what became of them. */
  "GET /runs/{id}/rows": { query: { "outcome"?: string; "code"?: string; "column"?: string; "key"?: string; "after"?: string; "offset"?: number | null; "limit"?: number; "cells"?: boolean; }; body: undefined; answer: Rows };
  /** The story of a row: cells, changes, the record before, what was sent, the outcome. */
  "GET /runs/{id}/rows/{row}": { query: {  }; body: undefined; answer: Story };
  /** Its faults, alike ones together, the most frequent first. */
  "GET /runs/{id}/faults": { query: {  }; body: undefined; answer: (Fault)[] };
  /** What it writes, or would: by field, old and new, and its brakes. */
  "GET /runs/{id}/plan": { query: {  }; body: undefined; answer: Plan };
  /** One of its reports, or the file of an export. */
  "GET /runs/{id}/reports/{name}": { query: {  }; body: undefined; answer: Response };
  /** Goes on with a run that was stopped or cut off. */
  "POST /runs/{id}/resume": { query: {  }; body: Record<string, never>; answer: Accepted };
  /** Takes up the rows that failed or were left unknown: a new run. */
  "POST /runs/{id}/retry": { query: {  }; body: { "force"?: boolean; }; answer: Accepted };
  /** Puts back what it wrote: a new run. First try it with `dry_run`. */
  "POST /runs/{id}/undo": { query: {  }; body: { "dry_run"?: boolean; /** Values for the records that the run created. */ "retire"?: Record<string, string>; "force"?: boolean; }; answer: Accepted };
  /** Carries out exactly its plan: a new run. */
  "POST /runs/{id}/approve": { query: {  }; body: { /** Who approves, where that is not whoever is signed in. */ "by"?: string; }; answer: Accepted };
  /** Ends it in order; `resume` goes on with it. */
  "POST /runs/{id}/stop": { query: {  }; body: Record<string, never>; answer: Accepted };
  /** Whether it is put aside: nothing more is to be done with it, and it waits for nobody. */
  "PUT /runs/{id}/aside": { query: {  }; body: { "aside": boolean; }; answer: undefined };
  /** Sends a spreadsheet, as the body of the request. */
  "POST /files": { query: { "name"?: string; }; body: string | Uint8Array; answer: File };
  /** What is known of a file that was sent. */
  "GET /files/{id}": { query: {  }; body: undefined; answer: File };
  /** The table that is found in a file, with the evidence. */
  "POST /tables": { query: {  }; body: { "file": string; "source"?: { "sheet"?: string | number; "header_row"?: number | "none"; "encoding"?: string; "delimiter"?: string; }; }; answer: Table };
  /** Suggests a job for a file, as `rowferry map` does. */
  "POST /suggestions": { query: {  }; body: { "file": string; "resource": string; "source"?: { "sheet"?: string | number; "header_row"?: number | "none"; "encoding"?: string; "delimiter"?: string; }; }; answer: Suggestion };
  /** What can be imported and exported, with the fields. */
  "GET /resources": { query: {  }; body: undefined; answer: { "resources": (Resource)[]; } };
  /** Names that the service has, for a cell that refers to a record. */
  "GET /names": { query: { "of"?: "asset-owner" | "business-unit" | "category" | "contract" | "customer" | "hardware-model" | "make" | "subcategory" | "supplier" | "usage-status" | "asset-field" | "contract-field" | "supplier-field" | "customer-field"; "q"?: string; "limit"?: number; "company"?: number; }; body: undefined; answer: Names };
  /** The job files, with what is wrong with them, when they run next, and what waits for them. */
  "GET /jobs": { query: {  }; body: undefined; answer: { "jobs": (Job)[]; } };
  /** A job file as it is, with its faults. */
  "GET /jobs/{name}": { query: {  }; body: undefined; answer: JobFile };
  /** Writes a job file. If-Match: the etag of what it replaces, or * for whatever is there; If-None-Match: * where it may only be a new one. */
  "PUT /jobs/{name}": { query: {  }; body: { "text": string; } | { "job": Record<string, unknown>; }; answer: JobFile };
  /** Checks the text of a job file; nothing is written. */
  "POST /jobs/check": { query: {  }; body: { "text": string; } | { "job": Record<string, unknown>; }; answer: JobChecked };
  /** The reconciliations of a job, newest first. */
  "GET /nights/{job}": { query: { "after"?: string; "limit"?: number; }; body: undefined; answer: Nights };
  /** What waits for a person, what runs and what comes, and how the last 30 days were. */
  "GET /overview": { query: { "timezone"?: string; }; body: undefined; answer: Overview };
  /** Whether queue and drop folder can be used. */
  "GET /health": { query: {  }; body: undefined; answer: Health };
  /** The queue of runs: who works on it, and what waits, is at work and failed. */
  "GET /queue": { query: {  }; body: undefined; answer: Queue };
}
