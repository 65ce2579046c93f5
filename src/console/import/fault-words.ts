/** What is wrong, in two or three words: over a list, in a filter. The message of each fault says it in full. */

const WORDS: Readonly<Record<string, string>> = {
  required: 'Blank',
  reference_not_found: 'No such name',
  reference_ambiguous: 'Several of this name',
  reference_created: 'New name',
  pair_incomplete: 'Half of a pair',
  excel_error: 'Spreadsheet error',
  number_precision_lost: 'Digits lost',
  duplicate_key: 'Key twice',
  duplicate_row: 'Row twice',
  near_match: 'Looks like another',
  ambiguous_match: 'Several records',
  would_lose_value: 'Would lose a value',
  changed_meanwhile: 'Changed meanwhile',
  service_rejected: 'Refused',
  service_unreachable: 'Not reached',
  outcome_unknown: 'Outcome unknown',
  ragged_row: 'Too many or few cells',
  nul_character: 'NUL character',
  not_an_email: 'No e-mail address',
  not_a_boolean: 'Not yes or no',
  rule_nrc_total: 'Above the total',
  rule_blended_sum: 'Sum does not fit',
};

/** `not_a_number` → `Not a number` */
export function faultWord(code: string): string {
  const plain = code.replace(/^rule_/, '').replaceAll('_', ' ');
  return WORDS[code] ?? plain.charAt(0).toUpperCase() + plain.slice(1);
}
