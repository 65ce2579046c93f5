import type { Lease, Store } from '../../../src/worker/store/port.js';

/** A store as one process has it. */
export interface ProcessStore extends Store {
  /** Leases that it was given, newest last. */
  readonly leases: readonly Lease[];
}

/** All "processes" of a test share one store, as the embedded store admits one; closing theirs leaves it open. */
export function processStore(store: Store): ProcessStore {
  const leases: Lease[] = [];
  const own: Partial<ProcessStore> = {
    leases,
    close: () => Promise.resolve(),
    async lease(name, ttlMs) {
      const lease = await store.lease(name, ttlMs);
      if (lease) leases.push(lease);
      return lease;
    },
  };
  return proxied(store, (name) => Reflect.get(own, name)) as ProcessStore;
}

/**
 * A store whose process is gone at the given step: from then on nothing that it asks for happens. `died`: whether it
 * came to that step.
 */
export function dyingStore(store: ProcessStore, step: number): { readonly store: Store; died(): boolean } {
  let left = step;
  const mortal = <T extends object>(one: T, names: readonly string[]): T =>
    proxied(one, (name, member) => {
      if (!names.includes(String(name)) || typeof member !== 'function') return undefined;
      return (...args: unknown[]) => {
        left -= 1;
        return left < 0 ? Promise.reject(new Error('the process is gone')) : member.apply(one, args);
      };
    });
  const asked = ['add', 'getJobState'];
  const texts = mortal(store, ['read', 'update']);
  const queue: Store['queue'] = (name, options) => mortal(store.queue(name, options), asked);
  return { store: proxied<Store>(texts, (name) => (name === 'queue' ? queue : undefined)), died: () => left < 0 };
}

/** `instead` gives what stands in for a member; undefined for none. */
function proxied<T extends object>(target: T, instead: (name: string | symbol, member: unknown) => unknown): T {
  return new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name);
      return instead(name, member) ?? (typeof member === 'function' ? member.bind(target) : member);
    },
  });
}
