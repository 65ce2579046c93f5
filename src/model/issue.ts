/**
 * Every fault code and what it means, in one line for people. Users filter on the codes: they are never renamed.
 * The table of docs/reference/outcomes-and-codes.md is checked against this list.
 */
export const ISSUE_CODES = {
  required: 'A value is required here and the cell is blank.',
  too_long: 'The text is longer than the service accepts.',
  wrong_length: 'The text must have exactly the stated number of characters.',
  not_a_number: 'The cell cannot be read as a number.',
  not_an_integer: 'The cell must hold a whole number.',
  out_of_range: 'The number lies outside the range the service accepts.',
  not_a_date: 'The cell cannot be read as a calendar date in any of the stated formats.',
  ambiguous_date: 'Day and month cannot be told apart and the job states no format.',
  not_in_list: 'The value is none of the values the field accepts.',
  not_an_email: 'The cell does not hold an e-mail address.',
  not_a_boolean: 'The cell cannot be read as yes or no.',
  reference_not_found: 'The name does not exist in the service.',
  reference_ambiguous: 'Several records of the service have this name.',
  reference_created: 'The name did not exist in the service: the run creates the record first.',
  pair_incomplete: 'Two values that belong together: one of them is missing, or they do not fit.',
  rule_customer_required: 'A sell-side contract needs a customer.',
  rule_supplier_required: 'A buy-side contract needs a supplier.',
  rule_start_before_end: 'The contract must start before it ends.',
  rule_notice_period: 'The notice period must be shorter than the contract.',
  rule_service_start: 'The service must start on or after the contract start and before its end.',
  rule_nrc_total: 'The non-recurring cost must not exceed the total contract spend.',
  rule_blended_sum: 'For a blended expenditure, capex and opex must add up to the total contract spend.',
  contract_type_change: 'The type of an existing contract cannot be changed.',
  status_not_writable: 'The service accepts only active and archived as the status in an update.',
  field_not_updatable: 'The field can be set when a record is created, not afterwards.',
  excel_error: 'The cell holds a spreadsheet error or a formula without a stored result.',
  number_precision_lost: 'The number is too long for a spreadsheet: its last digits are lost.',
  duplicate_key: 'An earlier row of this file has the same key.',
  duplicate_row: 'An earlier row of this file is the same in every mapped column.',
  not_a_record:
    'The row looks like a total, a note or the heading again, or all its cells were emptied, so it was skipped.',
  near_match: 'The key looks the same on the screen as another one, and is not the same.',
  ambiguous_match: 'Several records of the service match the key.',
  would_lose_value: 'The update would destroy a value that cannot be carried over.',
  changed_meanwhile: 'Somebody else changed the record after the row was planned.',
  service_rejected: 'The service refused the record.',
  service_unreachable: 'The service could not be reached; the row was not written.',
  list_incomplete:
    'The service has records that it does not show, or not yet, so it cannot be told whether the record exists.',
  outcome_unknown: 'The row was sent, and whether it took effect could not be established.',
  ragged_row: 'The row has more or fewer cells than the heading.',
  stray_quote: 'A quotation mark stands where none may stand; the row cannot be split into cells with certainty.',
  nul_character: 'The cell holds a NUL character.',
  control_character: 'The cell holds a control character, which no field accepts.',
  misread_text: 'The text looks as if it had been read in a wrong encoding, like `Ã©` for `é`.',
  invalid_encoding: 'The bytes of the cell are not text in the encoding of the file.',
  cell_too_long: 'The cell is longer than any field or spreadsheet allows.',
  template_conflict: 'A record holds one custom field template; the row sets values of another.',
  parent_not_written: 'The row refers to another row of this file that was not written.',
  reference_cycle: 'Rows of this file refer to one another in a circle.',
  record_not_found: 'No record of the service has this key, and the job does not create records.',
  record_exists: 'A record with this key exists, and the job does not update records.',
  id_unknown: 'The record was created, and the service did not tell its id.',
  value_normalised: 'The service stored the value in another form.',
  key_normalised: 'The service stored the key in another form, by which the next import does not find the record.',
  not_cleared: 'The record still holds a value that the update was to clear.',
  run_stopped: 'The run stopped before this row.',
  no_retire_values:
    'The run created the record; the service has no delete, and the job names no values that retire it.',
  old_value_unknown: 'What the field held before the run is not known, so it cannot be put back.',
} as const;

export type IssueCode = keyof typeof ISSUE_CODES;

/** What is wrong with a row, a cell or a run, in words for the person who can put it right. */
export interface Issue {
  readonly code: IssueCode;
  readonly severity: 'error' | 'warning';
  /** What is wrong, which rule says so, and what to do next. One sentence or two, no markup. */
  readonly message: string;
  /** The heading as it stands in the file. */
  readonly column?: string | undefined;
  /** The field as job files name it. */
  readonly field?: string | undefined;
  /** The cell as the person sees it. */
  readonly value?: string | undefined;
  /** `local`: found here, nothing was sent. `service`: the service's own words. */
  readonly origin: 'local' | 'service';
}

export function fault(code: IssueCode, message: string, at: Omit<Partial<Issue>, 'code' | 'message'> = {}): Issue {
  return { code, severity: 'error', message, origin: 'local', ...at };
}

export function warning(code: IssueCode, message: string, at: Omit<Partial<Issue>, 'code' | 'message'> = {}): Issue {
  return { code, severity: 'warning', message, origin: 'local', ...at };
}

/** With a full stop, where it has no end of its own: more is to be said behind it. */
export const endSentence = (text: string): string => (/[.!?…]["”»)]?$/u.test(text) ? text : `${text}.`);
