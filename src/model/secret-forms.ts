/** A secret as it looks in plain text, in JSON, in an address and in a header (base64, alone or behind a colon). */
export function secretForms(secret: string): ReadonlySet<string> {
  const address = encodeURIComponent(secret);
  const packed = [secret, `:${secret}`].map((text) => Buffer.from(text).toString('base64').replace(/=+$/, ''));
  return new Set([
    secret,
    address,
    address.replaceAll('%20', '+'),
    JSON.stringify(secret).slice(1, -1),
    ...packed,
    ...packed.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ]);
}
