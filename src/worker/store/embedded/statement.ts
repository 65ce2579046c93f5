/** What a statement means for a connection that many clients share. */
export type Statement =
  | { readonly kind: 'listen' | 'unlisten'; readonly channel: string }
  /** `UNLISTEN *`. */
  | { readonly kind: 'unlisten-all' }
  /** The client's name for itself, as `application_name`; absent: it is the first parameter. */
  | { readonly kind: 'name'; readonly name?: string }
  /** Would take away what belongs to everybody. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** `leaks`: may leave a session setting behind that the next client would find. */
  | { readonly kind: 'plain'; readonly leaks: boolean };

const channelName = String.raw`(?:"((?:[^"]|"")+)"|([a-z_][\w$]*))`;
const listen = new RegExp(String.raw`^(un)?listen\s+${channelName}\s*;?\s*$`, 'i');
const unlistenAll = /^unlisten\s*\*\s*;?\s*$/i;
const nameByFunction =
  /^select\s+(?:pg_catalog\.)?set_config\(\s*'application_name'\s*,\s*\$1\s*,\s*false\s*\)\s*;?\s*$/i;
const nameBySet = /^set\s+(?:session\s+)?application_name\s*(?:=|\bto\b)\s*'((?:[^']|'')*)'\s*;?\s*$/i;
const leaking = /^(?:set|reset|load)\b|\bset_config\s*\(/i;
const shared = /^(?:discard|prepare|deallocate)\b/i;

/** Reads a statement, or the first of several; channels that come later among several are not seen. */
export function readStatement(text: string): Statement {
  const bare = withoutLeadingComments(text);
  const channel = listen.exec(bare);
  if (channel) {
    // As PostgreSQL does: a name without quotes is in small letters.
    const name = channel[2]?.replaceAll('""', '"') ?? channel[3]?.toLowerCase() ?? '';
    return { kind: channel[1] ? 'unlisten' : 'listen', channel: name };
  }
  if (unlistenAll.test(bare)) return { kind: 'unlisten-all' };
  if (nameByFunction.test(bare)) return { kind: 'name' };
  const name = nameBySet.exec(bare);
  if (name) return { kind: 'name', name: (name[1] ?? '').replaceAll("''", "'") };
  const word = shared.exec(bare);
  if (word) {
    return {
      kind: 'refused',
      reason: `${word[0].toUpperCase()} changes the connection that all clients of the embedded queue share; leave it out.`,
    };
  }
  return { kind: 'plain', leaks: leaking.test(bare) };
}

function withoutLeadingComments(text: string): string {
  let at = 0;
  for (;;) {
    const found = /^(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)/.exec(text.slice(at, at + 20_000));
    if (!found) return text.slice(at);
    at += found[0].length;
  }
}
