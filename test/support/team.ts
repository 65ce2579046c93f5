import { randomBytes } from 'node:crypto';
import pino from 'pino';
import type { WorkerContext } from '../../src/runs/run/context.js';
import { runChannel } from '../../src/runs/run/open-service.js';
import type { Settings } from '../../src/runs/settings.js';
import { openParts, type Parts } from '../../src/worker/parts/parts.js';
import { openSigner } from '../../src/worker/parts/protocol.js';
import { waitForLease } from '../../src/worker/rights.js';
import { openStore } from '../../src/worker/store/open.js';
import type { SharedStore } from '../../src/worker/store/port.js';

/** A worker's share in the parts of others, and its means to have its own sent. In this process, on a real store. */
export interface Member {
  readonly store: SharedStore;
  readonly parts: Parts;
  readonly worker: WorkerContext;
  /** Writing requests it sent, for whichever run. */
  sent(): number;
  /** Records it read, for whichever run. */
  read(): number;
  /** Ends as SIGTERM does. */
  close(): Promise<void>;
}

export interface MemberOptions {
  readonly settings: Settings;
  /** Of a store that several share: one alone carries no parts. */
  readonly url: string;
  readonly leaseMs?: number;
}

export async function openMember({ settings, url, leaseMs = 3_000 }: MemberOptions): Promise<Member> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const log = pino({ level: 'silent', name: randomBytes(2).toString('hex') });
  const store = await openStore({
    url,
    home: settings.home,
    strict: false,
    patienceMs: 20_000,
    notice: () => undefined,
    signal,
  });
  if (store.kind === 'embedded') throw new Error('an embedded queue has one worker');
  const service = settings.apiUrl ?? '';
  const channel = runChannel(settings, store.pace(service), signal);
  let [sent, read] = [0, 0];
  const observe: WorkerContext['observe'] = ({ kind }) => {
    if (kind === 'write') sent++;
    else read++;
  };
  const signer = await openSigner(settings);
  const parts = await openParts({ store, service, settings, leaseMs, signer, log, signal, channel, observe });
  return {
    store,
    parts,
    sent: () => sent,
    read: () => read,
    worker: {
      channel,
      observe,
      carrier: parts.carrier,
      exclusive: (name, stop) => waitForLease(store, name, leaseMs, stop),
    },
    async close() {
      stopping.abort('SIGTERM');
      await parts.close();
      await channel.close(500);
      await store.close();
    },
  };
}
