import { Decimal } from '../model/decimal.js';
import { fault, type Issue, type IssueCode } from '../model/issue.js';
import { type Fields, isEmpty, type Value, valueText } from '../model/value.js';
import { daysBetween, isCalendarDate } from './calendar.js';

/** Rules 1 to 7 of contracts: interface section 4.3. A rule whose values are missing or unreadable is not judged. */
export function contractRules(fields: Fields): Issue[] {
  const issues: Issue[] = [];
  const broken = (code: IssueCode, field: string, message: string) =>
    issues.push(fault(code, message, { field, value: valueText(fields[field]) }));

  const type = fields['contract_type'];
  if (type === 'sell_side' && isEmpty(fields['customer'])) {
    broken(
      'rule_customer_required',
      'customer',
      'The contract is sell-side and names no customer. Fill the customer, or correct the contract type.',
    );
  }
  if (type === 'buy_side' && isEmpty(fields['supplier'])) {
    broken(
      'rule_supplier_required',
      'supplier',
      'The contract is buy-side and names no supplier. Fill the supplier, or correct the contract type.',
    );
  }
  dateRules(fields, broken);
  moneyRules(fields, broken);
  return issues;
}

type Broken = (code: IssueCode, field: string, message: string) => void;

function dateRules(fields: Fields, broken: Broken): void {
  const start = dateOf(fields['contract_start_date']);
  const end = dateOf(fields['contract_end_date']);
  const service = dateOf(fields['service_start_date']);
  const notice = fields['notice_period'];
  if (start && end && start >= end) {
    broken(
      'rule_start_before_end',
      'contract_start_date',
      `The contract starts on ${start} and ends on ${end}; it must start before it ends. Correct one of the dates.`,
    );
  } else if (start && end && typeof notice === 'number') {
    const days = daysBetween(start, end);
    if (notice >= days) {
      broken(
        'rule_notice_period',
        'notice_period',
        `The notice period is ${notice} days and the contract lasts ${days} days (${start} to ${end}); the notice must be shorter. Correct the period or the dates.`,
      );
    }
  }
  if (service && ((start && service < start) || (end && service >= end))) {
    broken(
      'rule_service_start',
      'service_start_date',
      `The service starts on ${service}; it must start on or after the contract start (${start ?? 'not given'}) and before its end (${end ?? 'not given'}). Correct one of the dates.`,
    );
  }
}

function moneyRules(fields: Fields, broken: Broken): void {
  const total = decimalOf(fields['total_contract_spend_value']);
  const nrc = decimalOf(fields['nrc']);
  if (nrc && total && nrc.compare(total) > 0) {
    broken(
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
    broken(
      'rule_blended_sum',
      absent,
      `The expenditure is blended, so capex and opex are both needed; ${which}. Fill what is missing.`,
    );
  } else if (total && !capex.plus(opex).equals(total)) {
    broken(
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
