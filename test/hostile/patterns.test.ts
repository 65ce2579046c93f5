import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { escapeFormula, unescapeFormula } from '../../src/files/formula.js';
import { numberText } from '../../src/files/number/cell-value.js';
import { Decimal } from '../../src/model/decimal.js';
import { RunError } from '../../src/model/error.js';
import { scrub } from '../../src/model/secret-forms.js';
import { foldText } from '../../src/model/value.js';
import { amountDigits, decimalSignIn, stripAmount } from '../../src/pipeline/map/amounts.js';
import { trimText } from '../../src/pipeline/map/cell-text.js';
import { unambiguousDate } from '../../src/pipeline/map/dates.js';
import { readDate } from '../../src/resources/calendar.js';
import { booleanValue } from '../../src/resources/value-check.js';
import { queueSecrets, queueWarnings } from '../../src/runs/settings-address.js';
import { readMessages } from '../../src/service/transport/answer.js';
import { failureText } from '../../src/worker/jobs/failure.js';

/** Patterns that are not whole in the source: a date format's words are escaped, a mark of numbers is one of ours. */
const MADE_LATER = ['pipeline/map/amounts.ts', 'pipeline/map/dates.ts', 'resources/read-value.ts'];

async function madeInFunctions(): Promise<string[]> {
  const found = new Set<string>();
  const names = await readdir('src', { recursive: true });
  for (const name of names.filter((one) => one.endsWith('.ts') && !one.startsWith('sandbox'))) {
    const source = ts.createSourceFile(name, await readFile(join('src', name), 'utf8'), ts.ScriptTarget.ES2023, true);
    const visit = (node: ts.Node, within: boolean): void => {
      const isPattern =
        (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp';
      if (isPattern && within) found.add(name);
      // What a callback at the top level makes is made once, from constants.
      const isFunction = ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node);
      const named = ts.isArrowFunction(node) && ts.isVariableDeclaration(node.parent);
      ts.forEachChild(node, (child) => visit(child, within || isFunction || named));
    };
    visit(source, false);
  }
  return [...found].sort();
}

describe('regular expressions', () => {
  it('are made from our own texts: no value of a file, job or service becomes one (89)', async () => {
    expect((await madeInFunctions()).filter((name) => !MADE_LATER.includes(name))).toEqual([]);
  });

  const PIECES = [' ', '0', '1,', '-', 'a', '=', '"', "'", '<', '\t', '\n', '1 ', '.', '(', '1/', 'a@', "''", ';=1'];
  const MORE = ['<title', '<script>', '</script ', 'bearer ', '\u001b[1', '\u00a0', 'é', ' ,', '1.', '00:', '%', '&#0'];
  const WORK: Readonly<Record<string, (text: string) => unknown>> = {
    escapeFormula,
    unescapeFormula,
    stripAmount,
    signShown: decimalSignIn,
    trimText,
    numberText,
    decimal: (text) => Decimal.parse(`1.${text}`),
    failureText: (text) => failureText(new RunError('failed', text), []),
    amountDigits: (text) => amountDigits(text, ','),
    dateByItself: unambiguousDate,
    readDate,
    foldText,
    booleanValue,
    queueRemarks: (text) => queueWarnings(`redis://${text}`),
    queueSecrets: (text) => queueSecrets(`redis://${text}`),
    scrub: (text) => scrub(text, ['planted-secret']),
    readMessages: (text) => readMessages(400, text),
  };

  it.each(Object.keys(WORK))('that meet a text of 100 kB are through with it at once: %s (89)', (name) => {
    for (const piece of [...PIECES, ...MORE]) {
      for (const [before, after] of [
        ['', ''],
        ['1', 'x'],
        ["'-", '\u0000!'],
      ]) {
        const text = `${before}${piece.repeat(100_000 / piece.length)}${after}`;
        const started = performance.now();
        WORK[name]?.(text);
        expect(performance.now() - started, JSON.stringify(piece)).toBeLessThan(1_000);
      }
    }
  });
});
