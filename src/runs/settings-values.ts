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
