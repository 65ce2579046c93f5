import { RunError } from '../../model/error.js';

export function notYet(name: string, instead: string): never {
  throw new RunError('usage', `\`rowferry ${name}\` is not in this version yet. ${instead}`);
}
