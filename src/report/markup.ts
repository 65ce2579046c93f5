import { picture } from '../model/visible.js';

/** HTML that is safe to place in a page. Only `html` makes it, so text cannot get into a page unescaped. */
export class Markup {
  constructor(readonly text: string) {}
}

export type Content = Markup | string | number | undefined | false | readonly Content[];

/** A template whose inserted texts are escaped, in element content as well as in quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Markup {
  let text = parts[0] ?? '';
  values.forEach((value, at) => {
    text += render(value) + (parts[at + 1] ?? '');
  });
  return new Markup(text);
}

/** Text of a file or of the service: its writing direction and invisible characters cannot spill over into the page. */
export function foreign(text: string): Markup {
  return html`<bdi>${visible(text)}</bdi>`;
}

function render(content: Content): string {
  if (content === undefined || content === false) return '';
  if (content instanceof Markup) return content.text;
  return typeof content === 'object' ? content.map(render).join('') : escapeText(String(content));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}

/** Control characters are shown, not executed: a terminal code or NUL becomes its printed symbol. */
function visible(text: string): string {
  return text.replace(/[^\P{Cc}\t\n]/gu, picture);
}
