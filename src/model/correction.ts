import { z } from 'zod';

/** A cell of a file that is read as if something else had been typed there; the file stays as it is. */
export const correction = z
  .strictObject({
    column: z.string().max(32_767).describe('The heading, as job files name it.'),
    value: z.string().max(32_767).describe('What stands there instead, as if it had been typed.'),
    row: z.int().min(1).optional(),
    from: z.string().max(32_767).optional().describe('In place of `row`: every cell of the column that shows this.'),
  })
  .meta({ id: 'Correction' });
export type Correction = Readonly<z.output<typeof correction>>;

/** Of one run; more are made in the file itself. */
export const MAX_CORRECTIONS = 10_000;
