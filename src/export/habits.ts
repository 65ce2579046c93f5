import { HabitSurvey, type Habits } from '../resources/read-habits.js';
import { readOnlySpec, resourceSpec } from '../resources/registry.js';
import { type Exportable, isWritable } from './column.js';

/** Sees every record once, before the first is read: how the service shows dates and amounts is told by all together. */
export function recordHabits(resource: Exportable): HabitSurvey {
  return new HabitSurvey(isWritable(resource) ? resourceSpec(resource) : readOnlySpec(resource));
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
