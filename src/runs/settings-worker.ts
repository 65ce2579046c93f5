import path from 'node:path';
import { z } from 'zod';
import { amount } from './settings-values.js';

/** What only `worker` and `enqueue` look at. Folders are absolute. */
export interface WorkerSettings {
  /** Drop folder. */
  readonly inbox: string;
  /** Folders that files of queue jobs may lie in. */
  readonly roots: readonly string[];
  readonly leaseMs: number;
  /** Where health, readiness and metrics are answered; absent for nowhere. `stated`: not the default. */
  readonly http?: { readonly host: string; readonly port: number; readonly stated: boolean };
  readonly boardPassword?: string;
  readonly notifyUrl?: string;
  readonly notifyFile?: string;
}

const PORT = /^(?:(?<host>\[[0-9a-f:.]+\]|[^\s:]+):)?(?<port>\d{1,5})$/i;
const HTTP = { host: '127.0.0.1', port: 8720 };

/** The part of the schema of settings that belongs to the worker. */
export const workerSettings = {
  ROWFERRY_INBOX: z.string().optional(),
  ROWFERRY_ROOTS: z.string().optional(),
  ROWFERRY_LEASE: amount(1, 600).default(15),
  ROWFERRY_HTTP: z
    .string()
    .refine((text) => /^off$/i.test(text) || (PORT.test(text) && Number(PORT.exec(text)?.groups?.['port']) <= 65_535), {
      message: 'must be a port, host:port, or off',
    })
    .optional(),
  ROWFERRY_BOARD_PASSWORD: z.string().min(8, 'must have 8 characters at least').optional(),
  // Not kept as it is checked: a webhook's address may well hold a query.
  ROWFERRY_NOTIFY_URL: z
    .string()
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
      message: 'must begin with https:// or http://',
    })
    .optional(),
  ROWFERRY_NOTIFY_FILE: z.string().optional(),
};

type Parsed = z.output<z.ZodObject<typeof workerSettings>>;

export function workerOf(data: Parsed, cwd: string, home: string): WorkerSettings {
  const inbox = path.resolve(cwd, data.ROWFERRY_INBOX ?? path.join(home, 'inbox'));
  const http = data.ROWFERRY_HTTP;
  const groups = http === undefined ? undefined : PORT.exec(http)?.groups;
  return {
    inbox,
    roots: roots(data.ROWFERRY_ROOTS, cwd, [home, inbox]),
    leaseMs: Math.round(data.ROWFERRY_LEASE * 1000),
    ...(http === undefined
      ? { http: { ...HTTP, stated: false } }
      : groups && {
          http: {
            host: groups['host']?.replace(/^\[|\]$/g, '') ?? HTTP.host,
            port: Number(groups['port']),
            stated: true,
          },
        }),
    ...(data.ROWFERRY_BOARD_PASSWORD !== undefined && { boardPassword: data.ROWFERRY_BOARD_PASSWORD }),
    ...(data.ROWFERRY_NOTIFY_URL !== undefined && { notifyUrl: data.ROWFERRY_NOTIFY_URL }),
    ...(data.ROWFERRY_NOTIFY_FILE !== undefined && { notifyFile: path.resolve(cwd, data.ROWFERRY_NOTIFY_FILE) }),
  };
}

/** The working folder counts where nothing else is stated, unless it is the root of the file system. */
function roots(stated: string | undefined, cwd: string, always: readonly string[]): string[] {
  const named = stated?.split(path.delimiter).filter((one) => one.trim() !== '');
  const more = named?.map((one) => path.resolve(cwd, one.trim())) ?? (path.dirname(cwd) === cwd ? [] : [cwd]);
  return [...new Set([...always, ...more])];
}
