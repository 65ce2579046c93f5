import { createHash, randomBytes } from 'node:crypto';
import { lstat, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { writeAtomically } from '../../files/atomic-write.js';
import { sizeText } from '../../model/count-text.js';
import { HOME, makeFolder } from '../../runs/run/layout.js';
import { Fault } from '../operation.js';
import type { Uploaded } from '../schema.js';

/** A file goes that nobody used for so long: 7 days. */
const KEEP_MS = 7 * 86_400_000;
/** So long nothing may come of a file, and so long it may take as a whole. */
const IDLE_MS = 60_000;
const TOTAL_MS = 3_600_000;
/** Files that come at the same time. */
const AT_ONCE = 16;
/** Bytes of a file's name, below what every file system takes. */
const NAME_BYTES = 150;

/**
 * Files that were sent, each in a folder of its own below `<home>/uploads`:
 *
 *     <id>/<name>          as it was sent, under a safe name; complete or not there
 *     <id>/.about.json     `Uploaded`; comes last, and its time is when the file was used last
 *
 * Outside of the drop folder and of the queue's own copies, so that neither takes it away from under a run that waits.
 */
export class Uploads {
  private readonly dir: string;
  private receiving = 0;

  constructor(
    home: string,
    private readonly maxBytes: number,
    private readonly idleMs = IDLE_MS,
  ) {
    this.dir = join(home, 'uploads');
  }

  /** Before it comes, of a file with so many bytes as were announced. */
  assertFits(bytes: number): void {
    if (bytes > this.maxBytes) throw new Fault(413, tooLarge(this.maxBytes));
  }

  /** Takes a file as it comes; what was cut off, is too large, or never ends leaves nothing behind. */
  async take(fileName: string, body: Readable): Promise<Uploaded> {
    if (this.receiving >= AT_ONCE) throw new Fault(429, 'Too many files are being sent at the moment. Try again soon.');
    this.receiving++;
    const id = randomBytes(12).toString('hex');
    const folder = join(this.dir, id);
    const name = safeName(fileName);
    const hash = createHash('sha256');
    let bytes = 0;
    const onTimeout = () => body.destroy(new Fault(400, 'The file did not come to its end in time. Send it again.'));
    // It may be late before it is read for the first time.
    body.on('error', () => undefined);
    const [idle, whole] = [setTimeout(onTimeout, this.idleMs), setTimeout(onTimeout, TOTAL_MS)];
    try {
      await makeFolder(folder, HOME);
      await writeAtomically(join(folder, name), async (write) => {
        for await (const chunk of body as AsyncIterable<Uint8Array>) {
          idle.refresh();
          bytes += chunk.length;
          this.assertFits(bytes);
          hash.update(chunk);
          await write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
        }
        if (bytes === 0) throw new Fault(422, 'The file is empty.');
      });
      const about: Uploaded = { id, file: `uploads/${id}/${name}`, name, bytes, sha256: hash.digest('hex') };
      await writeAtomically(join(folder, '.about.json'), (write) => write(JSON.stringify(about)));
      return about;
    } catch (error) {
      await this.remove(id);
      throw error;
    } finally {
      clearTimeout(idle);
      clearTimeout(whole);
      this.receiving--;
    }
  }

  /** What is known of a file, by its id or what it was called in the answer to its upload; it counts as used now. */
  async find(idOrFile: string): Promise<(Uploaded & { readonly path: string }) | undefined> {
    const id = idOf(idOrFile);
    if (id === undefined) return undefined;
    const folder = join(this.dir, id);
    const about = await readAbout(folder);
    if (!about || (idOrFile !== id && idOrFile !== about.file)) return undefined;
    await utimes(join(folder, '.about.json'), new Date(), new Date());
    return { ...about, path: join(folder, about.name) };
  }

  /** The same of one that has to be there. */
  async mustFind(idOrFile: string) {
    const found = await this.find(idOrFile);
    if (found) return found;
    throw noFile();
  }

  async remove(id: string): Promise<void> {
    await rm(join(this.dir, id), { recursive: true, force: true });
  }

  /** `inUse`: tells of a path whether a run waits for it. Returns the ids of what is removed. */
  async prune(inUse: (path: string) => Promise<boolean>, now = Date.now()): Promise<string[]> {
    const removed: string[] = [];
    for (const id of await readdir(this.dir).catch((): string[] => [])) {
      const folder = join(this.dir, id);
      const about = await readAbout(folder);
      const used = await stat(about ? join(folder, '.about.json') : folder).catch(() => undefined);
      if (!used || now - used.mtimeMs < (about ? KEEP_MS : 2 * TOTAL_MS)) continue;
      if (about && (await inUse(join(folder, about.name)))) continue;
      await this.remove(id);
      removed.push(id);
    }
    return removed;
  }
}

/** As the console names what it exports, and the job file beside an editable one. */
const EXPORTED = /-\d{8}-\d{9}\./;

/** Removes what the console exported and nobody downloaded for as long; other files of the folder are somebody's own. */
export async function pruneExports(home: string, now = Date.now()): Promise<void> {
  const folder = join(home, 'exports');
  for (const name of await readdir(folder).catch((): string[] => [])) {
    const info = EXPORTED.test(name) ? await lstat(join(folder, name)).catch(() => undefined) : undefined;
    if (info?.isFile() && now - Math.max(info.atimeMs, info.mtimeMs) > KEEP_MS)
      await rm(join(folder, name), { force: true });
  }
}

export const noFile = () =>
  new Fault(404, 'There is no such file: it was removed, or nobody used it for a week. Send it again.');

/** Whether a file is named as the answer to its upload named it, or by its id. */
export const isUpload = (file: string): boolean => idOf(file) !== undefined;

const idOf = (idOrFile: string): string | undefined => /^(?:uploads\/)?([0-9a-f]{24})(?:\/[^/]+)?$/.exec(idOrFile)?.[1];

async function readAbout(folder: string): Promise<Uploaded | undefined> {
  const text = await readFile(join(folder, '.about.json'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Uploaded);
}

const tooLarge = (maxBytes: number) =>
  `The file has more than ${sizeText(maxBytes)}, the most that is taken. Whoever runs rowferry can raise it: ROWFERRY_MAX_UPLOAD.`;

/** Names that Windows takes for devices, whatever their extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])$/i;

/** Whether a name is a device to Windows. */
export const isDevice = (name: string): boolean => DEVICE.test(name.split('.', 1)[0]?.trim() ?? '');

/** The last part of a name, fit for every file system, with its extension. */
export function safeName(fileName: string): string {
  const plain = fileName
    .normalize('NFC')
    .replace(/^.*[/\\]/su, '')
    // Controls, halves of surrogate pairs, what turns the direction of writing, and what Windows forbids.
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}<>:"|?*]/gu, '_')
    .replace(/^[\s.~]+|[\s.]+$/gu, '');
  const at = plain.lastIndexOf('.');
  const end = at > 0 && plain.length - at <= 12 ? plain.slice(at) : '';
  let stem = plain.slice(0, plain.length - end.length);
  while (Buffer.byteLength(stem + end) > NAME_BYTES) stem = [...stem].slice(0, -1).join('');
  if (stem === '' || isDevice(stem)) stem = `file${stem === '' ? '' : `_${stem}`}`;
  return stem + end;
}
