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

/** Replaces secrets wherever they appear in a text, also as they look inside JSON or a URL. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < MIN_LENGTH) continue;
    for (const form of secretForms(secret)) forms.add(form);
  }
  // Longest first, so that a secret that contains another one leaves no remains.
  const ordered = [...forms].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((clean, form) => clean.replaceAll(form, '[secret]'), text);
}

/** Replaces every known secret, and what stands where a token stands and is no word, as in "Basic Office Supplies". */
export function scrub(text: string, secrets: readonly string[]): string {
  let out = text.replace(/\b(bearer|basic)\s+(?=\S*\d)[\w.~+/=-]{16,}/gi, '$1 ***');
  for (const secret of secrets) {
    if (secret.length < 4) continue;
    for (const form of secretForms(secret)) out = out.replaceAll(form, '***');
  }
  return out;
}
