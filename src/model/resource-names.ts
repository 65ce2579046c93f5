/** Resources that rows can be written to. */
export const IMPORTABLE = ['asset', 'contract', 'supplier', 'customer'] as const;
export type ImportableName = (typeof IMPORTABLE)[number];

/** Those that a run may create because its rows refer to them: a name is all they need. */
export const CREATABLE = ['supplier', 'customer'] as const;
export type Creatable = (typeof CREATABLE)[number];

/** Resources that can only be read (interface, section 2.6 and 2.7). */
export const READ_ONLY = [
  'license',
  'company',
  'user',
  'category',
  'usage-status',
  'asset-owner',
  'custom-field-template',
  'custom-form-template',
] as const;
export type ReadOnlyName = (typeof READ_ONLY)[number];

/** Resources that can be exported: all of them. */
export const EXPORTABLE = [...IMPORTABLE, ...READ_ONLY] as const;
export type ExportableName = (typeof EXPORTABLE)[number];

/** `an asset`, `a supplier`, `a user`: names of resources and kinds of file in sentences. */
export function withArticle(name: string): string {
  return `${/^[aeio]/i.test(name) ? 'an' : 'a'} ${name}`;
}
