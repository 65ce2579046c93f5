import { z } from 'zod';

/** Digits only. */
export const whole = (least: number, most: number) =>
  z
    .string()
    .refine((text) => /^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most, {
      message: `must be a whole number from ${least} to ${most}`,
    })
    .transform(Number);

/** With or without decimals. */
export const amount = (least: number, most: number) =>
  z
    .string()
    .refine((text) => /^\d{1,9}(\.\d{1,6})?$/.test(text) && Number(text) >= least && Number(text) <= most, {
      message: `must be a number from ${least} to ${most}`,
    })
    .transform(Number);

/** Seconds parted by commas, each later than the one before; in milliseconds. */
export const moments = z
  .string()
  .regex(
    /^\d{1,4}(\.\d{1,3})?(\s*,\s*\d{1,4}(\.\d{1,3})?){0,19}$/,
    'must be seconds parted by commas, such as 1,5,15,45',
  )
  .transform((text) => text.split(',').map((part) => Math.round(Number(part) * 1000)))
  .refine((times) => times.every((at, i) => i === 0 || at > (times[i - 1] ?? 0)), {
    message: 'must ascend: each number of seconds is later than the one before, such as 1,5,15,45',
  });
