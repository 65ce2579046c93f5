import { type DatesSeen, dateHabit, type Habits, habitSurvey, noteDate } from '../resources/read-habits.js';
import { readOnlySpec, resourceSpec } from '../resources/registry.js';
import type { Lexicon } from '../resources/spec.js';
import type { Json } from '../service/port.js';
import { type Exportable, isWritable } from './column.js';

/** Sees every record once, before the first is read: how the service shows dates and amounts is told by all together. */
export interface RecordHabits {
  see(record: Json): void;
  conclude(lexicon: Pick<Lexicon, 'template' | 'form'>): Habits;
}

export function recordHabits(resource: Exportable): RecordHabits {
  return isWritable(resource) ? habitSurvey(resourceSpec(resource)) : dateHabits(resource);
}

/** Resources that can only be read show dates alone. */
function dateHabits(resource: Parameters<typeof readOnlySpec>[0]): RecordHabits {
  const dates = readOnlySpec(resource).fields.filter(({ kind }) => kind === 'date text');
  const seen: DatesSeen = new Map();
  return {
    see(record) {
      for (const { name } of dates) {
        const text = record[name];
        if (typeof text === 'string') noteDate(seen, name, text);
      }
    },
    conclude: () => dateHabit(seen),
  };
}

/** What an export cannot read for certain, in sentences for its warnings. */
export function describeHabits({ unclearDate, unclearAmount }: Habits): readonly string[] {
  const sentences: string[] = [];
  if (unclearDate) {
    sentences.push(
      `Dates such as "${unclearDate.text}" (${unclearDate.field}) could have the day or the month first, and no record tells which. They are in the file as the service shows them.`,
    );
  }
  if (unclearAmount) {
    sentences.push(
      `Amounts such as "${unclearAmount.text}" (${unclearAmount.field}) could have a comma before decimals or before thousands, and no record tells which. They are in the file as the service shows them.`,
    );
  }
  return sentences;
}
