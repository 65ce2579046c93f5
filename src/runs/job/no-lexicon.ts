import type { Lexicon } from '../../resources/spec.js';

/** Nothing is known of the service: what names mean that are its own is found out when a run begins. */
export const NO_LEXICON: Lexicon = {
  countryCode: () => undefined,
  template: () => undefined,
  form: () => undefined,
  idOf: () => undefined,
  nameOf: () => undefined,
};
