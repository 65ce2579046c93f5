/**
 * Text of files and of the service must not steer a terminal, neither when it is printed nor when somebody shows a report
 * on one.
 */

/** C0, DEL and C1 but for tab and line feed, and what ends lines or turns the direction of text round; listed are all others. */
const CONTROL_CHARACTERS = /[^\t\n -~\u00a0-\u061b\u061d-\u2027\u202f-\u2065\u206a-\uffff]/g;

/** The printed symbol of a control character: ESC is `␛`. */
export function controlPicture(char: string): string {
  const code = char.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd';
}

/** The text with every control character but tab and line feed replaced by its picture. */
export function visible(text: string): string {
  return text.replace(CONTROL_CHARACTERS, controlPicture);
}

/** The same for a text whose lines may end with CR and LF. */
export function visibleLines(text: string): string {
  return text.replace(CONTROL_CHARACTERS, (char, at: number) =>
    char === '\r' && text[at + 1] === '\n' ? char : controlPicture(char),
  );
}

/** JSON that no terminal obeys, and that means the same. */
export function visibleJson(json: string): string {
  return json.replace(UNESCAPED_CONTROLS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** What of it JSON leaves as it is. */
const UNESCAPED_CONTROLS = /[\u007f-\u009f\u061c\u2028-\u202e\u2066-\u2069]/g;

/** At most `maxLength` UTF-16 units, cut between characters, with an ellipsis for what is left out. */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const last = text.charCodeAt(maxLength - 2);
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxLength - 2 : maxLength - 1)}…`;
}
