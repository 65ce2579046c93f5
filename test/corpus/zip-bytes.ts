import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

/** One entry of a zip file to be written, with the lies its headers are to tell. */
export interface ZipEntry {
  readonly name: string;
  readonly data: Buffer | string;
  readonly stored?: boolean;
  readonly statedSize?: number;
  readonly statedCrc?: number;
  readonly method?: number;
  readonly encrypted?: boolean;
}

/** How a program writes its zip files. */
export interface ZipForm {
  /** Sizes and checksum stand behind the data, as programs that write streams do it. */
  readonly descriptors?: boolean;
  /** 64-bit sizes and directory, as some libraries always write them. */
  readonly zip64?: boolean;
  readonly comment?: string;
  /** An extra field of 9 bytes (time stamps) in every header. */
  readonly extra?: boolean;
  /** 0 stores everything. */
  readonly level?: number;
}

const EXTRA = Buffer.from([0x55, 0x54, 0x05, 0x00, 0x01, 0x00, 0xe1, 0xf5, 0x05]);

/** A zip file, byte by byte. */
export function packZip(entries: readonly ZipEntry[], form: ZipForm = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  const add = (...buffers: Buffer[]) => {
    for (const buffer of buffers) {
      parts.push(buffer);
      offset += buffer.length;
    }
  };
  for (const entry of entries) {
    const data = Buffer.isBuffer(entry.data) ? entry.data : Buffer.from(entry.data, 'utf8');
    const stored = entry.stored === true || form.level === 0;
    const packed = stored ? data : deflateRawSync(data, { level: form.level ?? 6 });
    const name = Buffer.from(entry.name, 'utf8');
    const at = offset;
    const size = entry.statedSize ?? data.length;
    const streamed = form.descriptors === true && !stored;
    const extra = form.extra ? EXTRA : Buffer.alloc(0);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(form.zip64 ? 45 : 20, 0);
    fields.writeUInt16LE(0x0800 | (streamed ? 8 : 0) | (entry.encrypted ? 1 : 0), 2);
    fields.writeUInt16LE(entry.method ?? (stored ? 0 : 8), 4);
    fields.writeUInt16LE(0x6020, 6);
    fields.writeUInt16LE(0x5a21, 8);
    fields.writeUInt32LE(entry.statedCrc ?? crc32(data), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(size, 18);
    fields.writeUInt16LE(name.length, 22);
    const local = Buffer.from(fields);
    if (streamed) local.fill(0, 10, 22);
    local.writeUInt16LE(extra.length, 24);
    add(Buffer.from('PK\x03\x04', 'latin1'), local, name, extra, packed);
    if (streamed) add(Buffer.from('PK\x07\x08', 'latin1'), fields.subarray(10, 22));

    const sizes = Buffer.alloc(form.zip64 ? 28 : 0);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    if (form.zip64) {
      sizes.writeUInt16LE(1, 0);
      sizes.writeUInt16LE(24, 2);
      sizes.writeBigUInt64LE(BigInt(size), 4);
      sizes.writeBigUInt64LE(BigInt(packed.length), 12);
      sizes.writeBigUInt64LE(BigInt(at), 20);
      fields.writeUInt32LE(0xffffffff, 14);
      fields.writeUInt32LE(0xffffffff, 18);
      tail.writeUInt32LE(0xffffffff, 10);
    }
    fields.writeUInt16LE(extra.length + sizes.length, 24);
    directory.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, tail, name, sizes, extra);
  }
  const central = Buffer.concat(directory);
  const start = offset;
  add(central);
  if (form.zip64) add(...zip64End(entries.length, central.length, start));
  const comment = Buffer.from(form.comment ?? '', 'latin1');
  const end = Buffer.alloc(18);
  end.writeUInt16LE(form.zip64 ? 0xffff : entries.length, 4);
  end.writeUInt16LE(form.zip64 ? 0xffff : entries.length, 6);
  end.writeUInt32LE(form.zip64 ? 0xffffffff : central.length, 8);
  end.writeUInt32LE(form.zip64 ? 0xffffffff : start, 12);
  end.writeUInt16LE(comment.length, 16);
  add(Buffer.from('PK\x05\x06', 'latin1'), end, comment);
  return Buffer.concat(parts);
}

function zip64End(entries: number, size: number, start: number): Buffer[] {
  const end = Buffer.alloc(52);
  end.writeBigUInt64LE(44n, 0);
  end.writeUInt16LE(45, 8);
  end.writeUInt16LE(45, 10);
  end.writeBigUInt64LE(BigInt(entries), 20);
  end.writeBigUInt64LE(BigInt(entries), 28);
  end.writeBigUInt64LE(BigInt(size), 36);
  end.writeBigUInt64LE(BigInt(start), 44);
  const locator = Buffer.alloc(16);
  locator.writeBigUInt64LE(BigInt(start + size), 4);
  locator.writeUInt32LE(1, 12);
  return [Buffer.from('PK\x06\x06', 'latin1'), end, Buffer.from('PK\x06\x07', 'latin1'), locator];
}

/** The entries of a well-formed zip file that has no 64-bit fields; undefined for anything else. */
export function unpackZip(bytes: Buffer): { name: string; data: Buffer }[] | undefined {
  const end = bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  if (end < 0 || end + 22 > bytes.length) return undefined;
  const entries: { name: string; data: Buffer }[] = [];
  let at = bytes.readUInt32LE(end + 16);
  try {
    for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
      if (bytes.readUInt32LE(at) !== 0x02014b50) return undefined;
      const method = bytes.readUInt16LE(at + 10);
      const packed = bytes.readUInt32LE(at + 20);
      const nameLength = bytes.readUInt16LE(at + 28);
      const name = bytes.toString('utf8', at + 46, at + 46 + nameLength);
      const local = bytes.readUInt32LE(at + 42);
      const from = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
      const data = bytes.subarray(from, from + packed);
      entries.push({ name, data: method === 8 ? inflateRawSync(data, { maxOutputLength: 32 * 1024 * 1024 }) : data });
      at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    }
  } catch {
    return undefined;
  }
  return entries;
}
