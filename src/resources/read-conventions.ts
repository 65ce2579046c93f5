import { dateOrderOf } from './calendar.js';
import { stepsOf, valueAt } from './path.js';
import type { ReadOnlySpec } from './registry.js';
import { type DateOrder, type ResourceSpec, readPaths } from './spec.js';

/** How the service writes dates, which the interface leaves open, as far as its records tell. */
export interface ReadConventions {
  readonly dateOrder?: DateOrder | undefined;
  /** A date whose day and month could be exchanged, where the order is not known. */
  readonly unclearDate?: Example | undefined;
}

/** What a record holds, and in which field. */
export interface Example {
  readonly field: string;
  readonly text: string;
}

/** Looks at the dates of records one by one. Custom fields do not count: which of them are dates, only their template says. */
export class ConventionSurvey {
  /** The first date that tells each order, and the first that tells none. */
  readonly #seen = new Map<DateOrder | 'either', Example>();
  readonly #fields: readonly { readonly name: string; readonly steps: readonly string[] }[];

  constructor(spec: ResourceSpec | ReadOnlySpec) {
    this.#fields = spec.fields.flatMap((field) => {
      const { name } = field;
      if ('kind' in field) return field.kind === 'date text' ? [{ name, steps: [name] }] : [];
      return field.type.kind === 'date' ? readPaths(field).map((path) => ({ name, steps: stepsOf(path) })) : [];
    });
  }

  observe(record: Readonly<Record<string, unknown>>): void {
    for (const { name, steps } of this.#fields) {
      const text = valueAt(record, steps);
      const order = typeof text === 'string' ? dateOrderOf(text) : undefined;
      if (order && !this.#seen.has(order)) this.#seen.set(order, { field: name, text: text as string });
    }
  }

  conclude(): ReadConventions {
    const seen = this.#seen;
    const [dmy, mdy] = [seen.has('dmy'), seen.has('mdy')];
    if (dmy !== mdy) return { dateOrder: dmy ? 'dmy' : 'mdy' };
    return { unclearDate: seen.get('either') };
  }
}
