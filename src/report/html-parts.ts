import { controlPicture, shorten } from '../model/control-characters.js';
import { OUTCOMES, type OutcomeCounts, type OutcomeKind } from '../model/outcome.js';
import { formatNumber, type RunKind } from './summary.js';
import { outcomeWords } from './wording.js';

/** What report.html is made of: safe text, the chart of outcomes, the style. */

/** HTML that is safe to place in a page. Only `html` makes it, so text cannot get into a page unescaped. */
export class Markup {
  constructor(readonly text: string) {}
}

type Content = Markup | string | number | undefined | false | readonly Content[];

/** A template whose inserted texts are escaped, in element content as well as in quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Markup {
  let text = parts[0] ?? '';
  values.forEach((value, at) => {
    text += render(value) + (parts[at + 1] ?? '');
  });
  return new Markup(text);
}

/** Text of a file or of the service: its writing direction and invisible characters cannot spill over into the page. */
export function untrusted(text: string): Markup {
  return html`<bdi>${visibleText(text)}</bdi>`;
}

/** Sentences, with what stands between backticks as something to type. */
export function prose(text: string): Markup {
  const parts = text.split('`');
  if (parts.length % 2 === 0) return untrusted(text);
  return html`<bdi>${parts.map((part, at) => (at % 2 === 1 ? html`<code>${visibleText(part)}</code>` : visibleText(part)))}</bdi>`;
}

/** A part of the page: its heading, what is said of it in a line, and what it holds. */
export function section(title: Content, about: Content, ...content: readonly Content[]): Markup {
  return html`<section>
<h2>${title}</h2>
<p class="soft">${about}</p>
${content}
</section>`;
}

/** Columns of a table by heading, with the classes that say how wide each is and how it stands. */
type Columns = Readonly<Record<string, string>>;

/** `className`: the class of the table. */
export function table(columns: Columns, rows: Content, className = ''): Markup {
  const classAttribute = (classes: string) => classes !== '' && html` class="${classes}"`;
  const cells = Object.entries(columns).map(([heading, classes]) =>
    heading === ''
      ? html`<td${classAttribute(classes)}></td>`
      : html`<th scope="col"${classAttribute(classes)}>${heading}</th>`,
  );
  return html`<table${classAttribute(className)}><thead><tr>${cells}</tr></thead>
<tbody>${rows}</tbody></table>`;
}

/** A table that scrolls by itself where the page is too narrow for it. */
export function wideTable(columns: Columns, rows: Content, className = ''): Markup {
  return html`<div class="scroll">${table(columns, rows, className)}</div>`;
}

const VALUE = 160;
const MESSAGE = 600;

/** A value of the file or of the service, as far as it tells which it is. */
export function shortText(text: string): Markup {
  return untrusted(shorten(text, VALUE));
}

/** What is to be read; the words of others in it may be endless. */
export function shortMessage(text: string): Markup {
  return prose(shorten(text, MESSAGE));
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
function visibleText(text: string): string {
  return text.replace(/[^\P{Cc}\t\n]/gu, controlPicture);
}

/** Fifteen rows in a million are still seen. */
const LEAST = 0.006;

/** All rows as one bar; the table below it names the colours. */
export function outcomeChart(counts: Readonly<OutcomeCounts>, dryRun: boolean, run: RunKind = 'import'): Markup {
  const present = OUTCOMES.filter((kind) => counts[kind] > 0);
  const total = present.reduce((all, kind) => all + counts[kind], 0);
  const words = (kind: OutcomeKind) =>
    `${formatNumber(counts[kind])} ${outcomeWords(kind, dryRun, run).label.toLowerCase()}`;
  const label = `${run === 'undo' ? 'Records' : 'Rows'} by outcome: ${present.map(words).join(', ')}.`;
  let x = 0;
  const bars = present.map((kind) => {
    const width = Math.max(LEAST, counts[kind] / total);
    const bar = html`<rect x="${x}" width="${width}" height="1" fill="var(--${kind})"><title>${words(kind)}</title></rect>`;
    x += width;
    return bar;
  });
  return html`<svg class="chart" viewBox="0 0 ${x} 1" preserveAspectRatio="none" role="img" aria-label="${label}">${bars}</svg>`;
}

/** The page's style: no font, image or script from elsewhere; follows the reader's light or dark setting; prints on A4. */
export const STYLE = `
:root{color-scheme:light dark;--paper:#f5f6f8;--card:#fff;--ink:#171a1f;--soft:#59616e;--line:#dfe3e9;--rule:#edf0f4;
--good:#15703f;--goodbg:#e5f4ea;--warn:#8a5200;--warnbg:#fdf1dc;--bad:#a8201a;--badbg:#fce9e7;--info:#1c4f8f;--infobg:#e6effa;
--created:#1f8a54;--updated:#2f6fc4;--unchanged:#8795a8;--skipped:#c0c8d3;--invalid:#d9820f;--duplicate:#b8a11d;--ambiguous:#8a63c9;
--at_risk:#c2588f;--conflict:#d0562b;--rejected:#c22f2a;--failed:#7d1f2d;--unknown:#5b3fa0;--not_attempted:#5f6875}
@media (prefers-color-scheme:dark){:root{--paper:#12151a;--card:#1a1e25;--ink:#e9ecf1;--soft:#a4adba;--line:#303743;--rule:#262c36;
--good:#7ddba2;--goodbg:#173325;--warn:#f3c272;--warnbg:#3a2c12;--bad:#ff9c94;--badbg:#411e1d;--info:#9dc4f5;--infobg:#1a2c44;
--created:#3fb877;--updated:#5b9bec;--unchanged:#8190a4;--skipped:#4d5766;--invalid:#eca03a;--duplicate:#d3bd3f;--ambiguous:#ad8ae6;
--at_risk:#e07eb1;--conflict:#f08059;--rejected:#ef6660;--failed:#c65467;--unknown:#9078dc;--not_attempted:#98a2b0}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Liberation Sans",sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1080px;margin:0 auto;padding:32px 24px 24px}
h1{font-size:30px;line-height:1.2;letter-spacing:-.015em;margin:10px 0 8px;font-weight:680;text-wrap:balance}
h2{font-size:18px;letter-spacing:-.005em;margin:0 0 4px;font-weight:650}
p{margin:0}.soft{color:var(--soft)}
.eyebrow{display:flex;flex-wrap:wrap;gap:8px;align-items:center;color:var(--soft);font-size:14px}
.pill{display:inline-block;border-radius:99px;padding:2px 11px;font-size:13px;font-weight:620}
.pill.good{background:var(--goodbg);color:var(--good)}.pill.warn{background:var(--warnbg);color:var(--warn)}
.pill.bad{background:var(--badbg);color:var(--bad)}.pill.info{background:var(--infobg);color:var(--info)}
.banner{border-radius:10px;padding:11px 16px;margin:0 0 18px;background:var(--infobg);color:var(--info);font-weight:560;border:1px solid currentColor}
.banner p{font-weight:400;margin-top:4px}.banner code{color:inherit}
.banner.bad{margin:18px 0 0;background:var(--badbg);color:var(--bad)}
.facts{display:flex;flex-wrap:wrap;gap:6px 28px;margin:14px 0 0;padding:0}
.facts div{min-width:0}.facts dt{font-size:12.5px;color:var(--soft)}.facts dd{margin:0;font-weight:560;overflow-wrap:anywhere}
section{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:20px 22px;margin:18px 0 0}
section>.soft{margin-bottom:12px}
table{width:100%;border-collapse:collapse;font-size:14px}
th{text-align:left;font-weight:600;font-size:12.5px;color:var(--soft);padding:6px 12px 6px 0;border-bottom:1px solid var(--line);vertical-align:bottom}
td{padding:8px 12px 8px 0;border-bottom:1px solid var(--rule);vertical-align:top;overflow-wrap:anywhere}
tbody th{font-size:14px;color:var(--ink);border-bottom:1px solid var(--rule);vertical-align:top;padding:8px 12px 8px 0;white-space:nowrap}
tr:last-child>td,tbody tr:last-child>th{border-bottom:0}thead tr:last-child>td{border-bottom:1px solid var(--line)}
td:last-child,th:last-child{padding-right:0}
.num{text-align:right;white-space:nowrap}
.scroll{overflow-x:auto}
code{font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;color:var(--soft);overflow-wrap:anywhere}
.value{display:inline-block;max-width:100%;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;background:var(--rule);border-radius:4px;padding:1px 5px;white-space:pre-wrap;overflow-wrap:anywhere}
.dot{display:inline-block;width:10px;height:10px;border-radius:3px;margin-right:8px}
.chart{display:block;width:100%;height:26px;margin:2px 0 14px}
.chart rect{stroke:var(--card);stroke-width:2;vector-effect:non-scaling-stroke}
.next{box-shadow:inset 5px 0 0 var(--warn)}
.next.good{box-shadow:inset 5px 0 0 var(--good)}
.next ol{margin:6px 0 0;padding-left:22px}.next li{margin:5px 0}
.next a{font-weight:600}
a{color:var(--info)}
.bar{display:block;height:5px;border-radius:3px;background:var(--invalid);margin-top:4px;min-width:3px}
details{border-top:1px solid var(--rule);padding:12px 0 2px}
section>details:first-of-type{border-top:0;padding-top:4px}
summary{cursor:pointer;font-weight:620;font-size:15px}
summary .soft{font-weight:400}
details p{margin:4px 0 8px}
.w-row{width:62px}.w-key{width:17%}.w-col{width:16%}.w-val{width:21%}.w-count{width:96px}.w-what{width:27%}.w-ex{width:21%}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(148px,1fr));gap:12px}
.tile{border:1px solid var(--line);border-radius:11px;padding:12px 14px 11px;border-top:4px solid var(--tone);display:flex;flex-direction:column;min-width:0}
.tile b{font-size:27px;line-height:1.15;letter-spacing:-.02em;font-weight:680}.tile span{font-weight:600;font-size:14px}.tile small{color:var(--soft);font-size:12.5px;line-height:1.35;margin-top:3px}
.tile.calm{--tone:var(--unchanged)}.tile.warn{--tone:var(--invalid)}
.key{white-space:nowrap;margin-left:10px;color:var(--soft);font-size:13px}.key i{display:inline-block;width:10px;height:10px;border-radius:3px;margin-right:6px}
.split{display:flex;height:9px;margin-top:6px;min-width:120px}.split i{display:block;height:9px}.split i{border-radius:3px}
.value.changed{background:var(--goodbg);color:var(--good)}
tbody th.rows{white-space:normal}
.pair{display:inline-block;max-width:100%;margin:0 12px 3px 0}.pair .soft{font-size:12.5px}
tr.lost td,tr.lost th{color:var(--bad)}
tr.kept td,tr.kept th{color:var(--soft)}
table.plain th{white-space:nowrap;width:150px;color:var(--soft)}table.plain td,table.plain th{border-bottom:0;padding-top:4px;padding-bottom:4px}
section .banner{margin:0 0 12px;font-weight:500}
ul.plain{margin:6px 0 0;padding-left:20px}ul.plain li{margin:4px 0}
footer{color:var(--soft);font-size:13px;padding:20px 2px 8px;line-height:1.7;overflow-wrap:anywhere}
@media (max-width:640px){main{padding:20px 14px}h1{font-size:24px}section{padding:16px 14px}.wide{display:none}tbody th{white-space:normal}.scroll table{min-width:640px}.scroll .flow{min-width:0}.flow .w-row{width:40px}.w-count{width:auto}td{overflow-wrap:break-word}
.scroll .stack{min-width:0}.stack thead,.stack .bar{display:none}.stack tbody,.stack tr{display:block}.stack tr{padding:8px 0;border-bottom:1px solid var(--rule)}.stack tr:last-child{border:0}
.stack tbody th,.stack td{display:inline;padding:0 10px 0 0;border:0}.stack tbody th::before{content:"Row "}.stack td:last-child{display:block;padding:3px 0 0}}
@page{margin:14mm}
@media print{:root{color-scheme:light;--paper:#fff;--line:#bbb}body{font-size:11px}main{max-width:none;padding:0}
section{border:0;border-top:1px solid #bbb;border-radius:0;padding:12px 0;margin:10px 0 0}.next{box-shadow:none}h1{font-size:20px}h2{font-size:14px}
table,tbody th,.pill{font-size:10.5px}th,.facts dt,footer{font-size:9.5px}.value,code{font-size:9.5px}td,tbody th{padding-top:4px;padding-bottom:4px}.facts{gap:3px 20px}
.bar,.dot,.value,.pill,.chart,.split,.tile,.key i{print-color-adjust:exact;-webkit-print-color-adjust:exact}tr,.chart{break-inside:avoid}thead{display:table-header-group}h2{break-after:avoid}}
`;
