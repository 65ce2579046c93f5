import type { Plant } from './plant.js';
import { REPORT_PLANTS } from './plants-reports.js';
import { VALUE_PLANTS } from './plants-values.js';
import { WRITE_PLANTS } from './plants-writes.js';

/** Bugs that would break the promise, each to be caught by the invariants in at least one scenario. */
export const PLANTS: readonly Plant[] = [...WRITE_PLANTS, ...VALUE_PLANTS, ...REPORT_PLANTS];
