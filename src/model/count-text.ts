let numberFormat: Intl.NumberFormat | undefined;

/** A page that one reader sees has numbers in that reader's form; files are the same wherever they are made. */
export function setNumberFormat(given: Intl.NumberFormat): void {
  numberFormat = given;
}

/** 1204 → `1,204`. By hand, as Node.js takes twenty milliseconds to make the first `Intl.NumberFormat`. */
export function formatNumber(n: number): string {
  return numberFormat ? numberFormat.format(n) : n.toFixed(0).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 request`, `1,204 requests` */
export function countText(n: number, one: string, many = `${one}s`): string {
  return `${formatNumber(n)} ${n === 1 ? one : many}`;
}

const MB = 1024 * 1024;

/** `4.2 MB`, `12 kB` or `900 bytes`, for messages: 1 MB is 1,048,576 bytes, as settings count it. */
export function sizeText(bytes: number): string {
  if (bytes >= MB) return `${Math.round((bytes / MB) * 10) / 10} MB`;
  return bytes >= 1024 ? `${Math.round(bytes / 1024)} kB` : `${bytes} bytes`;
}
