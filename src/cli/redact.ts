import { secretForms } from '../model/secret-forms.js';

/** Shorter ones are words of everyday text (`sandbox`): replacing them would garble messages and hide nothing. */
const SHORTEST = 8;

/** Replaces secrets wherever they appear in a text, also as they look inside JSON or a URL. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < SHORTEST) continue;
    for (const form of secretForms(secret)) forms.add(form);
  }
  // Longest first, so that a secret that contains another one leaves no remains.
  const ordered = [...forms].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((clean, form) => clean.replaceAll(form, '[secret]'), text);
}
