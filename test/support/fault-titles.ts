import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import ts from 'typescript';

/** A test that says in its title which faults it shows: `… (7, 8)`. */
export interface FaultTest {
  readonly file: string;
  readonly title: string;
  readonly faults: readonly number[];
}

const MARK = /(?:^|\s)\(((?:\d{1,2}|1\d\d)(?:, (?:\d{1,2}|1\d\d))*)\)(?=$|[\s,:])/g;

/** As `MARK`, wherever in a source it stands. */
const MARKED = /\(\d{1,3}(?:, \d{1,3})*\)/;

/** Paths of the test files below a folder, in order. */
export async function testFiles(root: string): Promise<string[]> {
  const names = await readdir(root, { recursive: true });
  return names
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(root, name))
    .sort();
}

/** Tests below a folder that carry numbers of faults, read from their sources; a test of several cases once for each marked case. */
export async function faultTests(root: string): Promise<FaultTest[]> {
  const found: FaultTest[] = [];
  for (const path of await testFiles(root)) {
    const text = await readFile(path, 'utf8');
    // Most of the time goes into reading what bears no mark.
    if (!MARKED.test(text)) continue;
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023);
    const file = relative(join(root, '..'), path);
    for (const title of titlesOf(source)) {
      const faults = numbersIn(title);
      if (faults.length > 0) found.push({ file, title, faults });
    }
  }
  return found;
}

function numbersIn(title: string): number[] {
  const numbers = [...title.matchAll(MARK)].flatMap(([, list = '']) => list.split(', ').map(Number));
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function titlesOf(source: ts.SourceFile): string[] {
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const title = textOf(node.arguments[0]);
      if (title !== undefined && isTest(node.expression)) titles.push(...withCases(title, node.expression, source));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
}

/** `it`, `it.only` and the like, `it.each(…)`, `it.skipIf(…)`; of `describe` the cases alone, which stand in the names of its tests. */
function isTest(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return ['it', 'test', 'describe'].includes(callee.text);
  if (ts.isPropertyAccessExpression(callee) || ts.isCallExpression(callee)) return isTest(callee.expression);
  return false;
}

/** The title for each case that bears a mark; the title itself where no case does. */
function withCases(title: string, callee: ts.Expression, source: ts.SourceFile): string[] {
  if (!ts.isCallExpression(callee)) return [title];
  const labels = callee.arguments
    .flatMap((argument) => labelsOf(argument, source))
    .filter((one) => numbersIn(one).length);
  if (labels.length === 0) return [title];
  return labels.map((label) => (title.includes('%s') ? title.replace('%s', label) : `${title}: ${label}`));
}

/** The first text of each case: `[['label', …], …]`, `['label', …]`, or the name of such a list. */
function labelsOf(node: ts.Expression, source: ts.SourceFile): string[] {
  if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) return labelsOf(node.expression, source);
  if (ts.isIdentifier(node)) {
    const list = declared(node.text, source);
    return list ? labelsOf(list, source) : [];
  }
  if (!ts.isArrayLiteralExpression(node)) return [];
  return node.elements.flatMap((element) => {
    const first = ts.isArrayLiteralExpression(element) ? element.elements[0] : element;
    const text = first && textOf(first);
    return text === undefined ? [] : [text];
  });
}

function declared(name: string, source: ts.SourceFile): ts.Expression | undefined {
  let found: ts.Expression | undefined;
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.name.text === name)
      found ??= node.initializer;
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function textOf(node: ts.Expression | undefined): string | undefined {
  if (!node) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  // `before ${…} after`: the marks stand in the fixed parts.
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map((span) => `…${span.literal.text}`).join('');
  return undefined;
}
