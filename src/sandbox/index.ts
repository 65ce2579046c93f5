/** A complete service of its own over HTTP, for trying things out and for tests. */

export type { Fault, FaultAction, FaultMatch } from './fault.js';
export { FAULT_ACTIONS, parseFault } from './fault.js';
export { Exact } from './json.js';
export { type Sandbox, type SandboxOptions, startSandbox } from './sandbox.js';
export type { SeenRequest } from './server.js';
export type { Commit, RequestCounters } from './service.js';
export { DEFAULT_SWITCHES, parseSwitches, SWITCH_NAMES, SWITCH_VALUES, type Switches } from './switches.js';
