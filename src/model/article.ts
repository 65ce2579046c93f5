/** `an asset`, `a supplier`, `a user`: names of resources and kinds of file in sentences. */
export function withArticle(name: string): string {
  return `${/^[aeio]/i.test(name) ? 'an' : 'a'} ${name}`;
}
