export interface DiskPlan {
  /** Folders below which writes are counted and fail; none: the disk is sound. */
  readonly roots: readonly string[];
  readonly fault: 'count' | 'full' | 'once' | 'short' | 'sync';
  readonly nth: number;
}

/** From now on in this process. Answers what was counted since the last call, as `number what path`. */
export function breakDisk(plan: DiskPlan): string[];
