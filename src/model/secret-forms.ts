/** A secret as it looks in plain text, in JSON, in an address and in a header (base64, alone or behind a colon). */
function secretForms(secret: string): ReadonlySet<string> {
  const address = encodeURIComponent(secret);
  const encoded = [secret, `:${secret}`].map((text) => Buffer.from(text).toString('base64').replace(/=+$/, ''));
  return new Set([
    secret,
    address,
    address.replaceAll('%20', '+'),
    JSON.stringify(secret).slice(1, -1),
    ...encoded,
    ...encoded.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ]);
}

/** Shorter ones are words of everyday text (`sandbox`): replacing them would garble messages and hide nothing. */
const MIN_LENGTH = 8;

/** The forms of those with so many characters; longest first, so that a secret that contains another one leaves no remains. */
function formsOf(secrets: readonly string[], least: number): string[] {
  const forms = secrets.flatMap((secret) => (secret.length < least ? [] : [...secretForms(secret)]));
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

/** Replaces secrets wherever they appear in a text, also as they look inside JSON or a URL. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = formsOf(secrets, MIN_LENGTH);
  return (text) => forms.reduce((clean, form) => clean.replaceAll(form, '[secret]'), text);
}

/**
 * Replaces every known secret, also where only its first half or more is quoted, and what stands where a token stands and is no
 * word, as in "Basic Office Supplies", or is how a secret begins.
 */
export function scrub(text: string, secrets: readonly string[]): string {
  const forms = formsOf(secrets, 4);
  let out = text.replace(/\b(bearer|basic)\s+([\w.~+/=-]{4,})/gi, (all, scheme: string, word: string) => {
    const cut = word.replace(/\.+$/, '');
    return /^(?=.*\d).{16}/.test(word) || forms.some((form) => form.startsWith(cut)) ? `${scheme} ***` : all;
  });
  for (const form of forms) out = out.replaceAll(form, '***');
  // Only then: a secret that begins as another one does would leave its end.
  for (const form of forms) {
    const least = Math.max(MIN_LENGTH, Math.ceil(form.length / 2));
    for (let end = form.length - 1; end >= least && out.includes(form.slice(0, least)); end--)
      out = out.replaceAll(form.slice(0, end), '***');
  }
  return out;
}
