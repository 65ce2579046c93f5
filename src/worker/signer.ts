import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Settings } from '../runs/settings.js';

export type Signer = Awaited<ReturnType<typeof openSigner>>;

type Secrets = Partial<Pick<Settings, 'auth' | 'queueSecret'>>;

interface Key {
  readonly bytes: Buffer;
  /** Milliseconds of this process. What was signed before a rotation is on its way for a while. */
  until: number;
}

const REREAD_MS = 1_000;
const ROTATED_MS = 600_000;

/**
 * Signs what workers say to one another through the queue, on which others may write as well: HMAC-SHA256 with a key that
 * is derived (HKDF) from the secret that all workers share.
 *
 * That is the secret of the queue, or else the credentials of the service, of these what stays the same while they are renewed: client
 * id and secret rather than the tokens they are exchanged for. A token file has nothing of the kind, and is followed.
 */
export async function openSigner(secrets: Secrets) {
  // A token file may come later than the worker. Until then nobody else's signature fits, and no part leaves this process.
  let keys: Key[] = [{ bytes: keyOf((await secretOf(secrets)) ?? randomBytes(32)), until: Number.POSITIVE_INFINITY }];
  let readAt = performance.now();
  let reading: Promise<void> | undefined;
  const fromFile = secrets.queueSecret === undefined && secrets.auth?.kind === 'file';

  async function readAgain(): Promise<void> {
    const secret = await secretOf(secrets);
    readAt = performance.now();
    const bytes = secret === undefined ? undefined : keyOf(secret);
    if (!bytes || keys[0]?.bytes.equals(bytes)) return;
    for (const key of keys) key.until = Math.min(key.until, readAt + ROTATED_MS);
    keys = [{ bytes, until: Number.POSITIVE_INFINITY }, ...keys.filter(({ until }) => until > readAt).slice(0, 1)];
  }

  const macOf = (key: Key, text: string) => createHmac('sha256', key.bytes).update(text).digest();
  function fits(text: string, signature: string): boolean {
    const given = Buffer.from(signature, 'base64url');
    const now = performance.now();
    return keys.some((key) => key.until > now && given.length === 32 && timingSafeEqual(macOf(key, text), given));
  }

  return {
    /** 43 characters. */
    sign: (text: string): string => macOf(keys[0] as Key, text).toString('base64url'),
    /** Where no signature fits, a token that lies in a file is read again: it may have been rotated. */
    async verify(text: string, signature: string): Promise<boolean> {
      if (fits(text, signature)) return true;
      if (!fromFile || (!reading && performance.now() - readAt < REREAD_MS)) return false;
      reading ??= readAgain().finally(() => {
        reading = undefined;
      });
      await reading;
      return fits(text, signature);
    },
  };
}

function keyOf(secret: string | Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'rowferry', 'signatures on the queue, 1', 32));
}

/** Undefined where the file of the token cannot be read. */
async function secretOf({ queueSecret, auth }: Secrets): Promise<string | undefined> {
  if (queueSecret !== undefined) return queueSecret;
  switch (auth?.kind) {
    case 'token':
      return auth.token;
    case 'oauth':
      return JSON.stringify([auth.clientId, auth.clientSecret]);
    case 'file': {
      const text = await readFile(auth.path, 'utf8').catch(() => '');
      return text.trim().replace(/^bearer\s+/i, '') || undefined;
    }
    default:
      return undefined;
  }
}
