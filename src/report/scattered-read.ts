import type { FileHandle } from 'node:fs/promises';

/** Where a piece of a file stands. */
export interface Piece {
  readonly offset: number;
  readonly length: number;
}

/** Pieces closer than this are read in one go: a read of a few unwanted bytes is cheaper than another call. */
const GAP = 32 << 10;
const BLOCK = 1 << 20;

/** The bytes of each piece, in the order asked for; neighbours share a read, whatever that order is. Lengths of 0 give no bytes. */
export async function readPieces(file: FileHandle, pieces: readonly Piece[]): Promise<Buffer[]> {
  const result: Buffer[] = new Array(pieces.length).fill(Buffer.alloc(0));
  const order = [...pieces.keys()]
    .filter((index) => (pieces[index]?.length ?? 0) > 0)
    .sort((a, b) => (pieces[a]?.offset ?? 0) - (pieces[b]?.offset ?? 0));
  for (let from = 0; from < order.length; ) {
    const start = pieceAt(pieces, order, from).offset;
    let to = from;
    let end = start;
    while (to < order.length) {
      const { offset, length } = pieceAt(pieces, order, to);
      if (to > from && (offset - end > GAP || offset + length - start > BLOCK)) break;
      end = Math.max(end, offset + length);
      to++;
    }
    const block = Buffer.allocUnsafe(end - start);
    await readFully(file, block, start);
    for (; from < to; from++) {
      const { offset, length } = pieceAt(pieces, order, from);
      result[order[from] ?? 0] = block.subarray(offset - start, offset - start + length);
    }
  }
  return result;
}

function pieceAt(pieces: readonly Piece[], order: readonly number[], at: number): Piece {
  return pieces[order[at] ?? -1] ?? { offset: 0, length: 0 };
}

async function readFully(file: FileHandle, block: Buffer, position: number): Promise<void> {
  for (let done = 0; done < block.length; ) {
    const { bytesRead } = await file.read(block, done, block.length - done, position + done);
    if (bytesRead === 0) throw new Error(`the file ends before byte ${position + block.length}`);
    done += bytesRead;
  }
}
