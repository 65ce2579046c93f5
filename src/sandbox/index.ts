/** A complete service of its own over HTTP, for trying things out and for tests. */
export type { Commit, RequestCounters } from './commits.js';
export type { Fault, FaultAction, FaultMatch } from './fault.js';
export { parseFaultPlan } from './fault-plan.js';
export { FAULT_ACTIONS, parseFault } from './fault-text.js';
export { Exact } from './json.js';
export { type Sandbox, type SandboxOptions, startSandbox } from './sandbox.js';
export type { SeenRequest } from './server.js';
export { parseSwitches, SWITCH_NAMES } from './switch-text.js';
export { DEFAULT_SWITCHES, SWITCH_VALUES, type Switches } from './switches.js';
