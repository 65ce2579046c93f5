import type { Evidence, Violation } from '../invariants/evidence.js';
import { FRESH_MS, type History } from './history.js';
import type { SimService } from './service.js';
import type { Shape } from './table.js';
import { type Timeline, WORLD } from './timeline.js';

/** What somebody else did to a record. */
export interface Edit {
  readonly at: number;
  readonly id: number;
  readonly field: string;
  readonly value: string;
}

/** Somebody else who works in the service, and what becomes of his work. */
export interface Edits {
  /** So many edits, spread over so many milliseconds from now on. */
  plan(records: number, over: number): void;
  /** Edits as the evidence takes them: those that may have been overwritten and were, left out. */
  survivors(): NonNullable<Evidence['edits']>;
  /** Edits of fields that no row sets, gone although nobody read the record so shortly before. */
  lost(): Violation[];
}

export function openEdits(parts: {
  readonly timeline: Timeline;
  readonly service: SimService;
  readonly shape: Shape;
  readonly random: () => number;
  readonly history: History;
}): Edits {
  const { timeline, service, shape, random, history } = parts;
  const edits: Edit[] = [];
  let count = 0;

  function editOne(): void {
    const records = service.raw(shape.resource);
    const record = records[Math.floor(random() * records.length)];
    const id = Number(record?.['id']);
    if (!record) return;
    const field = random() < 0.7 ? shape.unmapped : shape.mapped;
    const value = `edit ${++count}`;
    service.edit(shape.resource, id, { [field]: value });
    history.note(id);
    edits.push({ at: timeline.now, id, field, value });
  }

  /** What was edited last in the same place: where that is gone, those before it are, too, unless a PUT carried one of them. */
  const lastOf = (edit: Edit): Edit =>
    edits.findLast(({ id, field }) => id === edit.id && field === edit.field) ?? edit;
  /** The last edit of each field of each record. */
  const latest = () => [...new Map(edits.map((edit) => [`${edit.id} ${edit.field}`, edit])).values()];
  const holds = ({ id, field, value }: Edit) => service.stored(shape.resource, id)?.[field] === value;
  /** Whether a PUT may have been made from the record as it was before the edit. */
  const inWindow = (edit: Edit) =>
    (history.moments.get(edit.id) ?? []).some(
      ({ at, sent, by }) => by !== undefined && at >= edit.at && sent - FRESH_MS <= edit.at,
    );

  return {
    plan(records, over) {
      for (let n = 0; n < records; n++) timeline.after(random() * over, editOne, WORLD).background(true);
    },
    survivors: () =>
      edits
        .filter((edit) => edit.field !== shape.unmapped || holds(lastOf(edit)) || holds(edit))
        .map(({ id, field, value }) => ({ id, changes: { [field]: value } })),
    lost: () =>
      latest()
        .filter((edit) => service.stored(shape.resource, edit.id) !== undefined)
        .filter((edit) => edit.field === shape.unmapped && !holds(edit) && !inWindow(edit))
        .map(({ id, field, value, at }) => ({
          rule: 'edits-survive',
          text: `"${value}" in ${field} of ${id}, edited at ${Math.round(at)} ms, is gone, and no PUT was made from what was read before`,
        })),
  };
}
