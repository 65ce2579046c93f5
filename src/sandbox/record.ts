/** A record as it is stored: values by position (a resource's fields in their order), never changed in place. */
export interface Stored {
  readonly id: number;
  readonly company: number;
  /** Milliseconds. */
  readonly created: number;
  readonly modified: number;
  readonly values: readonly Value[];
}

/** Amounts are text ("1200.00"), dates are `yyyy-MM-dd`, references are ids. */
export type Value =
  | null
  | string
  | number
  | boolean
  | CategoryChoice
  | ContactPerson
  | Currency
  | Expenditure
  | Alert
  | readonly TemplateValues[]
  | readonly FormRow[];

export interface CategoryChoice {
  readonly category: number;
  readonly subcategory: string | null;
}

export interface ContactPerson {
  readonly name: string | null;
  readonly email: string | null;
  readonly type: string | null;
}

export interface Currency {
  readonly value: string | null;
  readonly symbol: string | null;
}

export interface Expenditure {
  readonly type: string | null;
  readonly capex: string | null;
  readonly opex: string | null;
}

export interface Alert {
  readonly isActive: boolean;
  readonly daysBefore: number | null;
  readonly type: string | null;
  readonly message: string | null;
  readonly emails: readonly string[];
}

/** Values of custom fields by field id. */
export type CustomValues = readonly (readonly [field: number, value: string | number | null])[];

export interface TemplateValues {
  readonly template: number;
  readonly values: CustomValues;
}

export interface FormRow {
  readonly form: number;
  readonly row: number;
  /** The first row of the same form, for every further one. */
  readonly parent: number | null;
  readonly sequence: number;
  readonly values: CustomValues;
}
