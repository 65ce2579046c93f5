import type { Fields } from '../model/value.js';
import { isObject } from '../resources/path.js';
import { recordId } from '../resources/read-value.js';
import type { ResourceSpec } from '../resources/spec.js';
import type { Json } from '../service/port.js';

/** A create takes a list of templates, and reads and updates have room for one (interface, sections 2.2 and 4.3). */
const FURTHER_TEMPLATES = 'further custom field templates';

/** What the record may hold although nobody can see it; nothing where our own last write is known. */
export function unseenFields(
  set: Fields,
  remembered: Json | undefined,
  record: Json | undefined,
  spec: ResourceSpec,
): string[] {
  if (record === undefined || remembered !== undefined) return [];
  // A record that shows no template has none; a service that shows a list shows all.
  const template = record[spec.template.read];
  const one = isObject(template) && recordId(template['id']) !== undefined;
  return neverShown(spec).filter((field) => (field === FURTHER_TEMPLATES ? one : !(field in set)));
}

/** What records of a resource may hold and reads never show, so that an update cannot carry it over; `form`: all form rows. */
export function neverShown(spec: ResourceSpec): string[] {
  const fields = spec.fields.filter((field) => field.read === undefined && field.update !== undefined);
  return [
    ...fields.map((field) => field.name),
    ...(spec.form && spec.form.read === undefined ? ['form'] : []),
    ...(spec.template.createAsList ? [FURTHER_TEMPLATES] : []),
  ];
}
