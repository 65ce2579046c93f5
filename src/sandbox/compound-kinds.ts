import type { Json } from './json.js';
import type { Kind } from './kinds.js';
import { email, flag, integer, member, money, object, oneOf, text } from './kinds.js';
import type { Alert, CategoryChoice, ContactPerson, Currency, Expenditure } from './record.js';

/** `{id: int, subcategory: string}`. Interface, sections 2.5, 4.3, 4.4. */
export function categoryChoice(idRequired: boolean): Kind<CategoryChoice> {
  return (value, field, check) => {
    const members = object(value, field, check);
    if (!members) return null;
    const id = member(members, 'id', integer, field, check);
    if (id === null) {
      const given = (members.get('id') ?? null) !== null;
      return idRequired && !given ? check.fail(`${field}.id`, 'This field is required.') : null;
    }
    const category = check.lookups.get('category', id, check.company);
    if (!category) return check.fail(`${field}.id`, `Invalid pk "${id}" - object does not exist.`);
    const subcategory = member(members, 'subcategory', text(), field, check);
    if (subcategory !== null && subcategory !== '' && !category.subcategories?.includes(subcategory)) {
      return check.fail(
        `${field}.subcategory`,
        `"${subcategory}" is not a subcategory of the category "${category.category}".`,
      );
    }
    return { category: id, subcategory: subcategory || null };
  };
}

const contactType = oneOf('account_management', 'billing', 'executive', 'sales', 'support', 'technical');

/** `{name, email, type}`: name and email are required of each other. Interface, section 2.3. */
export const contactPerson: Kind<ContactPerson> = (value, field, check) => {
  const members = object(value, field, check);
  if (!members) return null;
  const name = member(members, 'name', text(50), field, check);
  const address = member(members, 'email', email, field, check);
  const type = member(members, 'type', contactType, field, check);
  const given = (part: string): boolean => (members.get(part) ?? '') !== '';
  if (given('email') && !given('name')) check.fail(`${field}.name`, 'This field is required when email is given.');
  if (given('name') && !given('email')) check.fail(`${field}.email`, 'This field is required when name is given.');
  return name === null && address === null && type === null ? null : { name, email: address, type };
};

export const currency: Kind<Currency> = (value, field, check) => {
  const members = object(value, field, check);
  if (!members) return null;
  return {
    value: member(members, 'value', text(50), field, check),
    symbol: member(members, 'symbol', text(50), field, check),
  };
};

const expenditureType = oneOf('blended', 'capex', 'opex');

/** `{type, capex_actual, opex_actual}`. Interface, section 4.3; its sum is checked with the contract's rules. */
export const expenditure: Kind<Expenditure> = (value, field, check) => {
  const members = object(value, field, check);
  if (!members) return null;
  return {
    type: member(members, 'type', expenditureType, field, check),
    capex: member(members, 'capex_actual', money, field, check),
    opex: member(members, 'opex_actual', money, field, check),
  };
};

const alertType = oneOf('end_date', 'notice_date');
const mails = (value: Json): string[] =>
  Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : [];

/** A contract's alert as it is read; no documented body can write it. */
export const alert: Kind<Alert> = (value, field, check) => {
  const members = object(value, field, check);
  if (!members) return null;
  return {
    isActive: member(members, 'is_active', flag, field, check) ?? false,
    daysBefore: member(members, 'alert_days_before', integer, field, check),
    type: member(members, 'type', alertType, field, check),
    message: member(members, 'email_message', text(), field, check),
    emails: mails(members.get('email_list') ?? null),
  };
};
