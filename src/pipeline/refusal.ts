import type { IssueCode } from '../model/issue.js';

/** Why a cell cannot be converted: the code, and what to say after the cell has been quoted. */
export interface Refusal {
  readonly refused: IssueCode;
  readonly why: string;
}

export function refuse(refused: IssueCode, why: string): Refusal {
  return { refused, why };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refused' in value;
}
