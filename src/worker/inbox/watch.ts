import { type FSWatcher, watch } from 'node:fs';

/** Events of folders, which only ever lead to a look: they may be lost, doubled or late. */
export interface Watching {
  /** From now on these folders, and no others; a folder with another identity is another folder. */
  keep(folders: ReadonlyMap<string, bigint>): void;
  close(): void;
}

/**
 * One watch a folder, none a file: the system allows a user only so many, and people drop thousands of files at once.
 * `failed` is told where the system refuses.
 */
export function openWatching(changed: () => void, failed: (folder: string, error: unknown) => void): Watching {
  const watchers = new Map<string, { watcher: FSWatcher; identity: bigint }>();

  function drop(folder: string): void {
    watchers.get(folder)?.watcher.close();
    watchers.delete(folder);
  }

  function add(folder: string, identity: bigint): void {
    try {
      const watcher = watch(folder, { persistent: false }, changed);
      watcher.on('error', (error) => {
        if (watchers.get(folder)?.watcher === watcher) drop(folder);
        failed(folder, error);
      });
      watchers.set(folder, { watcher, identity });
    } catch (error) {
      failed(folder, error);
    }
  }

  return {
    keep(folders) {
      for (const [folder, { identity }] of watchers) if (folders.get(folder) !== identity) drop(folder);
      for (const [folder, identity] of folders) if (!watchers.has(folder)) add(folder, identity);
    },
    close() {
      for (const folder of [...watchers.keys()]) drop(folder);
    },
  };
}
