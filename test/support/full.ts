/** `TEST_FULL=1` gives suites of random or repeated cases the sizes of a long run; usually they take a share of them. */
export const FULL = process.env['TEST_FULL'] === '1';
