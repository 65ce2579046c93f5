/** The rules of the 25 columns in zod: lengths in characters, calendar dates, amounts with two places, lists, an address. */
import { z } from 'zod';
import { COLUMNS } from '../measure/sheet.mjs';

const MOST = 999_999_999_999_999;

const RULES = {
  text: (max) => z.string().max(max),
  email: (max) => z.email().max(max),
  enum: (values) => z.enum(values),
  date: () => z.iso.date(),
  decimal: () =>
    z
      .string()
      .regex(/^\d+(\.\d{1,2})?$/, 'is no amount')
      .transform(Number)
      .refine((value) => value <= MOST, 'is too large'),
};

export const assetSchema = z.object(
  Object.fromEntries(
    COLUMNS.map(({ field, kind, limit }) => {
      const rule = RULES[kind](limit);
      return [field, field === 'name' || field === 'serial_number' ? rule.min(1) : rule.optional()];
    }),
  ),
);
