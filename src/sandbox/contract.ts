import {
  alert,
  categoryChoice,
  country,
  date,
  daysCount,
  expenditure,
  formRows,
  type Kind,
  money,
  oneOf,
  reference,
  template,
  text,
  type WriteContext,
} from './kinds.js';
import * as show from './render.js';
import {
  createOnly,
  field,
  fields,
  onCreate,
  onUpdate,
  type Resource,
  readMembers,
  unlisted,
  withSpellings,
} from './resource.js';
import type { Value } from './stored-record.js';
import { compareAmounts, daysBetween, sumsTo } from './values.js';

/** Contracts: interface, sections 2.2 and 4.3. */

const STATUSES = ['active', 'archived', 'cancelled', 'draft', 'expired', 'suspended', 'terminated'];

const contractType = oneOf('buy_side', 'sell_side');

/** Said in an update, where no documented body lists it, it may only repeat what the contract is. */
const unchangedType: Kind<string> = (value, name, context) => {
  const kept = contractType(value, name, context);
  const current = context.current?.values['contract_type'];
  return kept !== null && current !== undefined && kept !== current
    ? context.fail(name, 'contract_type cannot be changed by an update.')
    : kept;
};

const parentContract: Kind<number> = (value, name, context) => {
  const id = reference('contract')(value, name, context);
  return id !== null && id === context.current?.id ? context.fail(name, 'A contract cannot be its own parent.') : id;
};

/** Rules 1 to 7. The interface compares calendar dates and exact amounts. */
function rules(value: (name: string) => Value, context: WriteContext): void {
  const type = value('contract_type');
  if (type === 'sell_side' && value('customer') === null) {
    context.fail('customer', 'This field is required for sell_side contracts.');
  }
  if (type === 'buy_side' && value('supplier') === null) {
    context.fail('supplier', 'This field is required for buy_side contracts.');
  }
  const start = value('contract_start_date') as string | null;
  const end = value('contract_end_date') as string | null;
  if (start !== null && end !== null) {
    if (start >= end) context.fail('contract_start_date', 'contract_start_date must be before contract_end_date.');
    const notice = value('notice_period') as number | null;
    if (notice !== null && start < end && notice >= daysBetween(start, end)) {
      context.fail('notice_period', 'notice_period must be less than the contract duration.');
    }
    const service = value('service_start_date') as string | null;
    if (service !== null && (service < start || service >= end)) {
      context.fail(
        'service_start_date',
        'service_start_date must be equal to or after contract_start_date and before contract_end_date.',
      );
    }
  }
  const total = value('total_contract_spend_value') as string | null;
  const nrc = value('nrc') as string | null;
  if (total !== null && nrc !== null && compareAmounts(nrc, total) > 0) {
    context.fail('nrc', 'nrc must not exceed total_contract_spend_value.');
  }
  const spend = value('expenditure_type') as Readonly<Record<string, string | null>> | null;
  if (spend?.['type'] === 'blended') {
    const { capex_actual: capex = null, opex_actual: opex = null } = spend;
    const missing = 'This field is required when the type is blended.';
    if (capex === null) context.fail('expenditure_type.capex_actual', missing);
    if (opex === null) context.fail('expenditure_type.opex_actual', missing);
    if (capex !== null && opex !== null && total !== null && !sumsTo(capex, opex, total)) {
      context.fail(
        'expenditure_type',
        'The sum of capex_actual and opex_actual must equal total_contract_spend_value.',
      );
    }
  }
}

const contractFields = [
  createOnly('contract_type', unchangedType, { required: true, fixed: true }),
  field('name', text(50), { required: true }),
  field('number', text(50), { required: true }),
  field('parent_contract', parentContract),
  ...fields(money, 'first_offer_value', 'cost_avoidance_value', 'contract_risk_value'),
  field('customer', reference('customer')),
  field('supplier', reference('supplier')),
  field('country', country, { required: true }),
  withSpellings('status', [onCreate('status', oneOf(...STATUSES)), onUpdate('status', oneOf('active', 'archived'))], {
    required: true,
  }),
  field('category', categoryChoice(true)),
  field('description', text(1000)),
  field('business_unit', reference('business-unit')),
  field('contract_start_date', date, { required: true }),
  field('contract_end_date', date, { required: true }),
  field('notice_period', daysCount),
  field('service_start_date', date),
  field('end_of_term_clause', oneOf('auto_expires', 'auto_renewed')),
  field('end_of_term_action', oneOf('allow_auto_renew', 'allow_expiration', 'disallow_auto_renew', 'renegotiate')),
  field('timeline_notes', text(1000)),
  field('total_contract_spend_value', money, { required: true }),
  ...fields(money, 'mrc', 'nrc'),
  field('expenditure_type', expenditure),
  field('payment_terms', oneOf('custom', 'net_30', 'net_45', 'net_60')),
  field('financing', oneOf('custom', 'financed', 'leased', 'self_paid')),
  field('financial_notes', text(1000)),
  unlisted('alert', alert),
  field('template', template('contract')),
  createOnly('form_template', formRows('contract')),
  createOnly('approver', text(50)),
  createOnly('signer', text(50)),
  createOnly('signed_date', text(50)),
];

export const contract: Resource = {
  name: 'contract',
  indexed: ['name', 'number'],
  rules,
  fields: contractFields,
  read: readMembers(
    contractFields,
    ['form_template'],
    [
      show.contract('parent_contract'),
      show.party('customer', 'customer'),
      show.party('supplier', 'supplier'),
      show.category,
      show.entry('business_unit', 'business-unit', 'name', 'contact_name', 'contact_email', 'contact_phone_number'),
      show.expenditure,
      show.modifiedDate,
      show.template,
    ],
  ),
};
