/** Suggesting a job for a file: `suggestJob` looks at it, `jobText` and `tableText` write down what it found. */
export { jobText } from './job-text.js';
export { suggestJob } from './suggest.js';
export type { SuggestedColumn, SuggestedKey, Suggestion } from './suggestion.js';
export { tableText } from './table-text.js';
