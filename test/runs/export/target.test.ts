import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Desk, openDesk } from '../../support/desk.js';

describe('the job file of another editable file', () => {
  test('is not replaced', async () => {
    const desk: Desk = await openDesk({ seed: 'demo' });
    try {
      await desk.export('supplier', 'x.csv', { editable: true });
      const job = join(desk.dir, 'x.yaml');
      const before = await readFile(job, 'utf8');
      await expect(desk.export('supplier', 'x.xlsx', { editable: true })).rejects.toThrow(
        /x\.yaml is there and is not the job of x\.xlsx/,
      );
      expect(await readFile(job, 'utf8')).toBe(before);
      await expect(stat(join(desk.dir, 'x.xlsx'))).rejects.toThrow();
      expect((await desk.export('supplier', 'x.csv', { editable: true })).summary.status).toBe('succeeded');
    } finally {
      await desk.close();
    }
  });
});
