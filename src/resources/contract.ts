import { Decimal } from '../model/decimal.js';
import { fault, type Issue, type IssueCode } from '../model/issue.js';
import { type Fields, isEmpty, type Value, valueText } from '../model/value.js';
import { daysBetween, isCalendarDate } from './calendar.js';
import {
  choice,
  country,
  date,
  type FieldSpec,
  field,
  id,
  money,
  type ResourceSpec,
  reference,
  text,
  yesNo,
} from './spec.js';

/** Contract: interface sections 2.2 (reads), 4.3 (bodies and rules 1–7), 3 (status). */

const STATUS = ['active', 'archived', 'cancelled', 'draft', 'expired', 'suspended', 'terminated'];

const fields: readonly FieldSpec[] = [
  field('id', 'Id', id, 'r', { derived: true, note: 'Given by the service; may be the match key.' }),
  field('contract_type', 'Contract type', choice(['buy_side', 'sell_side']), 'rc', {
    aliases: ['type'],
    required: true,
    keptByService: true,
    note: 'Cannot be changed after the contract is created.',
  }),
  field('name', 'Name', text(50), 'rcu', { aliases: ['contract_name'], required: true }),
  field('number', 'Number', text(50), 'rcu', { aliases: ['contract_no', 'contract_number'], required: true }),
  field('parent_contract', 'Parent contract', reference('contract'), 'rcu', {
    aliases: ['parent_contract.number'],
    note: 'By contract number; digits are a number, too, not an id.',
  }),
  field('customer', 'Customer', reference('customer'), 'rcu', {
    aliases: ['customer.name'],
    note: 'Required when the contract type is sell-side.',
  }),
  field('supplier', 'Supplier', reference('supplier'), 'rcu', {
    aliases: ['supplier.name'],
    note: 'Required when the contract type is buy-side.',
  }),
  field('country', 'Country', country, 'rcu', { required: true }),
  field('status', 'Status', { kind: 'enum', values: STATUS, update: ['active', 'archived'] }, 'rcu', {
    required: true,
    note: 'An update accepts only active and archived.',
  }),
  field('category.name', 'Category', reference('category'), '', {
    aliases: ['category'],
    read: 'category',
    create: 'category.id',
    update: 'category.id',
  }),
  field('category.subcategory', 'Subcategory', text(), 'rcu', {
    aliases: ['subcategory'],
    note: 'Needs a category.',
  }),
  field('description', 'Description', text(1000), 'rcu'),
  field('business_unit', 'Business unit', reference('business-unit'), 'rcu', { aliases: ['business_unit.name'] }),
  field('business_unit.contact_name', 'Business unit: contact', text(), 'r', { derived: true }),
  field('business_unit.contact_email', 'Business unit: e-mail', text(), 'r', { derived: true }),
  field('business_unit.contact_phone_number', 'Business unit: phone', text(), 'r', { derived: true }),
  field('contract_start_date', 'Start date', date, 'rcu', {
    aliases: ['start_date'],
    required: true,
    note: 'Before the end date.',
  }),
  field('contract_end_date', 'End date', date, 'rcu', { aliases: ['end_date'], required: true }),
  field('notice_period', 'Notice period (days)', { kind: 'integer', min: 0 }, 'rcu', {
    note: 'Days; shorter than the contract.',
  }),
  field('service_start_date', 'Service start date', date, 'rcu', {
    note: 'On or after the start date and before the end date.',
  }),
  field('end_of_term_clause', 'End-of-term clause', choice(['auto_expires', 'auto_renewed']), 'rcu'),
  field(
    'end_of_term_action',
    'End-of-term action',
    choice(['allow_auto_renew', 'allow_expiration', 'disallow_auto_renew', 'renegotiate']),
    'rcu',
  ),
  field('timeline_notes', 'Timeline notes', text(1000), 'rcu'),
  field('total_contract_spend_value', 'Total contract spend', money, 'rcu', {
    aliases: ['total_contract_spend', 'total_value'],
    required: true,
  }),
  field('first_offer_value', 'First offer', money, 'rcu'),
  field('cost_avoidance_value', 'Cost avoidance', money, 'rcu'),
  field('contract_risk_value', 'Contract risk', money, 'rcu'),
  field('mrc', 'Monthly recurring cost', money, 'rcu'),
  field('nrc', 'Non-recurring cost', money, 'rcu', { note: 'Not more than the total contract spend.' }),
  field('expenditure_type.type', 'Expenditure type', choice(['blended', 'capex', 'opex']), 'rcu', {
    aliases: ['expenditure_type'],
    note: 'Blended: capex and opex must add up to the total contract spend.',
  }),
  field('expenditure_type.capex_actual', 'Capex', money, 'rcu', { aliases: ['capex_actual'] }),
  field('expenditure_type.opex_actual', 'Opex', money, 'rcu', { aliases: ['opex_actual'] }),
  field('expenditure_type.capex_percent', 'Capex percent', { kind: 'decimal' }, 'r', { derived: true }),
  field('expenditure_type.opex_percent', 'Opex percent', { kind: 'decimal' }, 'r', { derived: true }),
  field('payment_terms', 'Payment terms', choice(['custom', 'net_30', 'net_45', 'net_60']), 'rcu'),
  field('financing', 'Financing', choice(['custom', 'financed', 'leased', 'self_paid']), 'rcu'),
  field('financial_notes', 'Financial notes', text(1000), 'rcu'),
  field('alert.is_active', 'Alert: active', yesNo, 'r', { note: 'Reads only; no body carries the alert.' }),
  field('alert.alert_days_before', 'Alert: days before', { kind: 'integer' }, 'r'),
  field('alert.type', 'Alert: type', choice(['end_date', 'notice_date']), 'r'),
  field('alert.email_message', 'Alert: message', text(), 'r'),
  field('alert.email_list', 'Alert: e-mail addresses', { kind: 'texts' }, 'r'),
  field('modified_date', 'Modified', text(), 'r', { derived: true }),
  field('approver', 'Approver', text(50), 'rc', { note: 'Can be set on create only.' }),
  field('signer', 'Signer', text(50), 'rc', { note: 'Can be set on create only.' }),
  field('signed_date', 'Signed', text(50), 'rc', { note: 'Text of up to 50 characters; can be set on create only.' }),
];

export const contract: ResourceSpec = {
  name: 'contract',
  readable: true,
  fields,
  filters: { name: 'name', number: 'contract_no' },
  template: { read: 'template', create: 'template', createAsList: false, update: 'template' },
  form: { create: 'form_template' },
  naturalKeys: ['number', 'name'],
  templateTextMax: { create: 50, update: 50 },
  uniqueFields: [],
  idleGroups: [{ prefix: 'alert.', signs: ['alert.is_active', 'alert.email_message', 'alert.email_list'] }],
};

/** Rules 1 to 7 of contracts: interface section 4.3. A rule whose values are missing or unreadable is not judged. */
export function contractRules(fields: Fields): Issue[] {
  const issues: Issue[] = [];
  const addFault = (code: IssueCode, field: string, message: string) =>
    issues.push(fault(code, message, { field, value: valueText(fields[field]) }));

  const type = fields['contract_type'];
  if (type === 'sell_side' && isEmpty(fields['customer'])) {
    addFault(
      'rule_customer_required',
      'customer',
      'The contract is sell-side and names no customer. Fill the customer, or correct the contract type.',
    );
  }
  if (type === 'buy_side' && isEmpty(fields['supplier'])) {
    addFault(
      'rule_supplier_required',
      'supplier',
      'The contract is buy-side and names no supplier. Fill the supplier, or correct the contract type.',
    );
  }
  dateRules(fields, addFault);
  moneyRules(fields, addFault);
  return issues;
}

type AddFault = (code: IssueCode, field: string, message: string) => void;

function dateRules(fields: Fields, addFault: AddFault): void {
  const start = dateOf(fields['contract_start_date']);
  const end = dateOf(fields['contract_end_date']);
  const service = dateOf(fields['service_start_date']);
  const notice = fields['notice_period'];
  if (start && end && start >= end) {
    addFault(
      'rule_start_before_end',
      'contract_start_date',
      `The contract starts on ${start} and ends on ${end}; it must start before it ends. Correct one of the dates.`,
    );
  } else if (start && end && typeof notice === 'number') {
    const days = daysBetween(start, end);
    if (notice >= days) {
      addFault(
        'rule_notice_period',
        'notice_period',
        `The notice period is ${notice} days and the contract lasts ${days} days (${start} to ${end}); the notice must be shorter. Correct the period or the dates.`,
      );
    }
  }
  if (service && ((start && service < start) || (end && service >= end))) {
    addFault(
      'rule_service_start',
      'service_start_date',
      `The service starts on ${service}; it must start on or after the contract start (${start ?? 'not given'}) and before its end (${end ?? 'not given'}). Correct one of the dates.`,
    );
  }
}

function moneyRules(fields: Fields, addFault: AddFault): void {
  const total = decimalOf(fields['total_contract_spend_value']);
  const nrc = decimalOf(fields['nrc']);
  if (nrc && total && nrc.compare(total) > 0) {
    addFault(
      'rule_nrc_total',
      'nrc',
      `The non-recurring cost is ${nrc} and the total contract spend ${total}; it must not exceed the total. Correct one of the amounts.`,
    );
  }
  if (fields['expenditure_type.type'] !== 'blended') return;
  const capex = decimalOf(fields['expenditure_type.capex_actual']);
  const opex = decimalOf(fields['expenditure_type.opex_actual']);
  if (!capex || !opex) {
    const absent = capex ? 'expenditure_type.opex_actual' : 'expenditure_type.capex_actual';
    const which = capex || opex ? `${capex ? 'opex' : 'capex'} is blank` : 'both are blank';
    addFault(
      'rule_blended_sum',
      absent,
      `The expenditure is blended, so capex and opex are both needed; ${which}. Fill what is missing.`,
    );
  } else if (total && !capex.plus(opex).equals(total)) {
    addFault(
      'rule_blended_sum',
      'expenditure_type.capex_actual',
      `Capex ${capex} and opex ${opex} add up to ${capex.plus(opex)}, and the total contract spend is ${total}; they must be equal. Correct one of the amounts.`,
    );
  }
}

function dateOf(value: Value | undefined): string | undefined {
  return typeof value === 'string' && isCalendarDate(value) ? value : undefined;
}

function decimalOf(value: Value | undefined): Decimal | undefined {
  if (value instanceof Decimal) return value;
  return typeof value === 'number' ? Decimal.parse(String(value)) : undefined;
}
