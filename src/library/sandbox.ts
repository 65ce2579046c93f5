import { errorText, runFailure, systemCodes, usageError } from '../model/error.js';
import {
  FAULT_ACTIONS,
  type Fault,
  parseFault,
  type Sandbox,
  type SandboxOptions,
  SWITCH_VALUES,
  startSandbox,
} from '../sandbox/index.js';
import { assertOptions, CALLBACK, FLAG, isTexts, oneOf, type Rule, TEXT } from './open.js';

const isNumber = (value: unknown, min: number, max = Number.MAX_SAFE_INTEGER) =>
  typeof value === 'number' && value >= min && value <= max;

const RULES: ReadonlyMap<string, Rule> = new Map<keyof SandboxOptions, Rule>([
  ['port', [(value) => Number.isInteger(value) && isNumber(value, 0, 65_535), 'a whole number from 0 to 65535']],
  ['seed', oneOf(['demo', 'empty'])],
  ['host', TEXT],
  ['token', [(value) => isTexts([value].flat()) && value !== '', 'text, or a list of texts']],
  ['responses', oneOf(SWITCH_VALUES.responses)],
  ['latencyMs', [(value) => isNumber(value, 0), 'a number of milliseconds from 0']],
  ['faults', [(value) => Array.isArray(value) && value.every(isFault), 'a list of faults, each as text or an object']],
  ['switches', [isSwitches, 'an object of switches, each with one of its values']],
  ['maxRps', [(value) => isNumber(value, Number.MIN_VALUE), 'a number above 0']],
  ['keepBodies', FLAG],
  ['maxBodyBytes', [(value) => isNumber(value, 0), 'a number of bytes from 0']],
  ['now', CALLBACK],
  ['onCommit', CALLBACK],
  ['onRequest', CALLBACK],
  ['onAnswer', CALLBACK],
]);

/** Starts a sandbox with options that are checked. Rejects with a `RunError` alone. */
export async function openCheckedSandbox(options: SandboxOptions): Promise<Sandbox> {
  assertOptions(options, [...RULES.keys()], RULES);
  for (const fault of options.faults ?? []) if (typeof fault === 'string') assertFault(fault);
  return startSandbox(options).catch((error: unknown) => {
    throw runFailure(startFault(error, options.port), [], { cause: error });
  });
}

function isFault(fault: unknown): boolean {
  if (typeof fault === 'string') return true;
  const { match, action } = (fault ?? {}) as Partial<Fault>;
  return typeof match === 'object' && match !== null && action !== undefined && FAULT_ACTIONS.includes(action.kind);
}

function isSwitches(switches: unknown): boolean {
  if (typeof switches !== 'object' || switches === null) return false;
  return Object.entries(switches).every(([name, value]) => {
    const values = Object.entries(SWITCH_VALUES).find(([one]) => one === name)?.[1];
    return values === 'number' ? isNumber(value, 0) : values?.some((one) => one === value);
  });
}

function assertFault(fault: string): void {
  try {
    parseFault(fault);
  } catch (error) {
    throw usageError(errorText(error));
  }
}

function startFault(error: unknown, port: number | undefined): string {
  const [code] = systemCodes(error);
  if (code === 'EADDRINUSE') return `Port ${port} is in use; choose another one, or leave it out.`;
  if (code === 'EACCES') return `Port ${port} may not be used by this user; choose one above 1023.`;
  return `The sandbox could not start: ${errorText(error)}`;
}
