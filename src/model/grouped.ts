let form: Intl.NumberFormat | undefined;

/** A page that one reader sees has numbers in that reader's form; files are the same wherever they are made. */
export function countAs(given: Intl.NumberFormat): void {
  form = given;
}

/** 1204 → `1,204`. By hand, as Node.js takes twenty milliseconds to make the first `Intl.NumberFormat`. */
export function grouped(n: number): string {
  return form ? form.format(n) : n.toFixed(0).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 request`, `1,204 requests` */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${grouped(n)} ${n === 1 ? one : many}`;
}
