import type { Scenario } from '../scenario.js';
import { faults } from './faults.js';
import { blind, killed } from './killed.js';
import { lag } from './lag.js';
import { drift, filters, silentFilter } from './lookups.js';
import { others } from './others.js';
import { plain, rehearsed, twice } from './plain.js';
import { hidden, lossy, redirected, throttled, together } from './service.js';
import { stale } from './stale.js';

export const SCENARIOS: readonly Scenario[] = [
  plain,
  rehearsed,
  twice,
  faults,
  lag,
  others,
  stale,
  killed,
  blind,
  filters,
  silentFilter,
  drift,
  lossy,
  throttled,
  redirected,
  hidden,
  together,
];
