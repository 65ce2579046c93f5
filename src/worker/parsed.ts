import type { z } from 'zod';

/** A text that workers keep, as JSON of a form; what is not there, or cannot be read, is none. */
export function parsed<T>(form: z.ZodType<T>, text: string | undefined): T | undefined {
  try {
    return form.parse(JSON.parse(text ?? ''));
  } catch {
    return undefined;
  }
}
