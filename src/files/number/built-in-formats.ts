/** Codes that files name by number only. Those from 27 on are East Asian; what matters is that they are dates. */
const BUILT_IN: Readonly<Record<number, string>> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '"$"#,##0_);\\("$"#,##0\\)',
  6: '"$"#,##0_);[Red]\\("$"#,##0\\)',
  7: '"$"#,##0.00_);\\("$"#,##0.00\\)',
  8: '"$"#,##0.00_);[Red]\\("$"#,##0.00\\)',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'mm-dd-yy',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'm/d/yy h:mm',
  37: '#,##0_);\\(#,##0\\)',
  38: '#,##0_);[Red]\\(#,##0\\)',
  39: '#,##0.00_);\\(#,##0.00\\)',
  40: '#,##0.00_);[Red]\\(#,##0.00\\)',
  41: '_(* #,##0_);_(* \\(#,##0\\);_(* "-"_);_(@_)',
  42: '_("$"* #,##0_);_("$"* \\(#,##0\\);_("$"* "-"_);_(@_)',
  43: '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)',
  44: '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
  49: '@',
};
const EAST_ASIAN_DATES = new Set([27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58]);
const EAST_ASIAN_TIMES = new Set([32, 33, 34, 35, 55, 56]);

/** The code of a built-in format; undefined for a number that has none. */
export function builtInCode(id: number): string | undefined {
  if (EAST_ASIAN_DATES.has(id)) return 'yyyy\\-mm\\-dd';
  if (EAST_ASIAN_TIMES.has(id)) return 'h:mm:ss';
  return BUILT_IN[id];
}
