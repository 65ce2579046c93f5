import { fault, type Issue } from '../model/issue.js';
import { type Fields, isEmpty, valueText } from '../model/value.js';
import type { WriteAnswer } from '../service/port.js';
import type { WriteContext } from './writing.js';

/** The service's refusal in its own words, put to the fields they name, their columns and what was `sent` in them. */
export function rejection(
  answer: Extract<WriteAnswer, { kind: 'refused' }>,
  sent: Fields,
  context: Pick<WriteContext, 'spec' | 'columnOf'>,
): Issue[] {
  const issues = answer.messages.map((message) => {
    const field = message.field === undefined ? undefined : jobField(message.field, context);
    const text = `The service refused the record${message.field ? ` because of ${message.field}` : ''}: ${message.text}`;
    return fault('service_rejected', text, {
      origin: 'service',
      ...(field === undefined ? {} : placed(field, sent, context)),
    });
  });
  return issues.length > 0
    ? issues
    : [
        fault('service_rejected', `The service refused the record with status ${answer.status} and gave no reason.`, {
          origin: 'service',
        }),
      ];
}

function placed(field: string, sent: Fields, { columnOf }: Pick<WriteContext, 'columnOf'>): Partial<Issue> {
  const [column, value] = [columnOf(field), sent[field]];
  return {
    field,
    ...(column === undefined ? {} : { column }),
    ...(isEmpty(value) ? {} : { value: valueText(value) }),
  };
}

/** The field as job files write it, from the spelling of a body. */
function jobField(spelling: string, context: Pick<WriteContext, 'spec'>): string {
  const spec = context.spec.fields.find(
    (field) =>
      field.name === spelling ||
      field.create === spelling ||
      field.update === spelling ||
      field.aliases?.includes(spelling),
  );
  return spec?.name ?? spelling;
}
