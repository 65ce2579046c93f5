const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The byte order mark, a character a byte. */
const MARK = '\u00ef\u00bb\u00bf';

/**
 * The texts of the records in a page, as the service wrote them: JSON of one line each, in order, as parts of the bytes
 * given. To make them anew from what was parsed costs more than to parse them. `bytes`: UTF-8 that was parsed, and an object
 * with `results`.
 *
 * Undefined where this quick look does not settle it: another name for `results` or two of them, something in it that is no
 * record, a line break between the values.
 */
export function recordTexts(bytes: Buffer): Buffer[] | undefined {
  // A character a byte, which is made and searched faster; all that is looked for is ASCII, and no part of another character.
  const page = bytes.toString('latin1');
  const start = resultsIn(page);
  if (start < 0) return undefined;
  const texts: Buffer[] = [];
  let at = start + 1;
  for (;;) {
    at = pastBlanks(page, at);
    const code = page.charCodeAt(at);
    if (code === CLOSE_LIST) break;
    if (code !== OPEN_OBJECT) return undefined;
    const end = pastValue(page, at);
    if (end < 0) return undefined;
    texts.push(bytes.subarray(at, end));
    at = pastBlanks(page, end);
    if (page.charCodeAt(at) === COMMA) at++;
  }
  const line = page.indexOf('\n', start);
  if (line >= 0 && line < at) return undefined;
  // What follows must not name the results again: the last name counts.
  return page.includes('"results"', at) || page.includes('\\u', at) ? undefined : texts;
}

/** Where the list of results begins; -1 where it is not found. */
function resultsIn(page: string): number {
  let at = pastBlanks(page, page.startsWith(MARK) ? MARK.length : 0);
  if (page.charCodeAt(at) !== OPEN_OBJECT) return -1;
  for (at++; ; at++) {
    at = pastBlanks(page, at);
    if (page.charCodeAt(at) !== QUOTE) return -1;
    const end = pastText(page, at);
    if (end < 0) return -1;
    const isResults = end - at === 9 && page.startsWith('"results"', at);
    const colon = pastBlanks(page, end);
    if (page.charCodeAt(colon) !== COLON) return -1;
    at = pastBlanks(page, colon + 1);
    if (isResults) return page.charCodeAt(at) === OPEN_LIST ? at : -1;
    at = pastValue(page, at);
    if (at < 0) return -1;
    at = pastBlanks(page, at);
    if (page.charCodeAt(at) !== COMMA) return -1;
  }
}

/** Behind the object, list, text or other value that begins here; -1 where the text ends before. */
function pastValue(page: string, start: number): number {
  let depth = 0;
  for (let at = start; at < page.length; at++) {
    switch (page.charCodeAt(at)) {
      case QUOTE:
        at = pastText(page, at) - 1;
        if (at < 0) return -1;
        if (depth === 0) return at + 1;
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        depth++;
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        // Of a number, true, false or null: the end of what holds it.
        if (depth === 0) return at;
        if (--depth === 0) return at + 1;
        break;
      case COMMA:
        if (depth === 0) return at;
    }
  }
  return -1;
}

/** Behind the closing quote of the text that begins here; -1 where there is none. */
function pastText(page: string, start: number): number {
  for (let end = page.indexOf('"', start + 1); end >= 0; end = page.indexOf('"', end + 1)) {
    let from = end;
    while (page.charCodeAt(from - 1) === BACKSLASH) from--;
    if (((end - from) & 1) === 0) return end + 1;
  }
  return -1;
}

function pastBlanks(page: string, start: number): number {
  let at = start;
  for (;;) {
    const code = page.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at++;
  }
}
