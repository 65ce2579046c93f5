import { fault, type Issue } from '../model/issue.js';
import type { WriteAnswer } from '../service/port.js';
import type { WriteContext } from './writing.js';

/** The service's refusal in its own words, put to the fields they name. */
export function rejection(
  answer: Extract<WriteAnswer, { kind: 'refused' }>,
  context: Pick<WriteContext, 'spec'>,
): Issue[] {
  const issues = answer.messages.map((message) => {
    const field = message.field === undefined ? undefined : jobField(message.field, context);
    const text = `The service refused the record${message.field ? ` because of ${message.field}` : ''}: ${message.text}`;
    return fault('service_rejected', text, { origin: 'service', ...(field === undefined ? {} : { field }) });
  });
  return issues.length > 0
    ? issues
    : [
        fault('service_rejected', `The service refused the record with status ${answer.status} and gave no reason.`, {
          origin: 'service',
        }),
      ];
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
