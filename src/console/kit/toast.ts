/** Where what was done is said: the pages hold it, and say nothing in it themselves. */
export const TOASTS_ID = 'toasts';

const TOAST_MS = 10_000;

/** What was done, for as long as it takes to read, or until it is pressed. */
export function toast(text: string): void {
  const all = document.getElementById(TOASTS_ID);
  const one = document.createElement('button');
  one.className = 'toast';
  one.textContent = text;
  one.title = 'Close';
  one.addEventListener('click', () => one.remove());
  setTimeout(() => one.remove(), TOAST_MS);
  all?.append(one);
}
