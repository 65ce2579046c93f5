import { readFile } from 'node:fs/promises';

/** The typed examples of the library as docs/integrate.md has them, in its order. */
export async function libraryExamples(): Promise<string[]> {
  const page = await readFile('docs/integrate.md', 'utf8');
  const section = page.slice(page.indexOf('\n## The library\n'), page.indexOf('\n## The queue\n'));
  return [...section.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? '');
}
