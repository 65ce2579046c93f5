/** A member of a JSON object, its name and its whole text as the line has it. */
export interface JsonMember {
  readonly name: string;
  /** `"name": value`, without the blanks around it. */
  readonly text: string;
}

/** The outermost members of a line that `parseJsonLine` accepts, in order, a name that stands twice both times. */
export function jsonMembers(line: string): JsonMember[] {
  const members: JsonMember[] = [];
  let depth = 0;
  let from = 0;
  const add = (to: number) => {
    const text = line.slice(from, to).trim();
    if (text !== '') members.push({ name: JSON.parse(text.slice(0, endOfText(text, 0))) as string, text });
    from = to + 1;
  };
  for (let at = 0; at < line.length; at++) {
    switch (line[at]) {
      case '"':
        at = endOfText(line, at) - 1;
        break;
      case '{':
      case '[':
        if (depth++ === 0) from = at + 1;
        break;
      case ',':
        if (depth === 1) add(at);
        break;
      case '}':
      case ']':
        if (--depth === 0) add(at);
        break;
    }
  }
  return members;
}

/** The position after the text in quotes that begins at `from`. */
function endOfText(line: string, from: number): number {
  let at = from + 1;
  while (at < line.length && line[at] !== '"') at += line[at] === '\\' ? 2 : 1;
  return at + 1;
}
