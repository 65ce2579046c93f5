import type { Plant } from './plant.js';

/** Bugs in matching and merging: which record is meant, and what a body holds. */
export const VALUE_PLANTS: readonly Plant[] = [
  {
    name: 'a filter is believed',
    scenario: 'filters',
    why: 'A filter that ignores case finds another record.',
    patches: [
      {
        file: 'model/value.js',
        find: "return text.normalize('NFKC')",
        replace: "return text.toLowerCase().normalize('NFKC')",
      },
    ],
  },
  {
    name: 'the first hit is taken',
    scenario: 'plain',
    why: 'Which of the two records is meant nobody knows.',
    patches: [{ file: 'pipeline/plan/plan.js', find: 'if (ids.length > 1) {', replace: 'if (false) {' }],
  },
  {
    name: '"nothing found" is believed',
    scenario: 'silent filter',
    why: 'A filter that does not work finds nothing, and all is created again.',
    patches: [
      {
        file: 'pipeline/match/filter.js',
        find: 'return answer.count > PAGE_SIZE || answer.results.some((record) =>',
        replace: 'return true || answer.results.some((record) =>',
      },
    ],
  },
  {
    name: 'the list is read as if it stood still',
    scenario: 'drift',
    why: 'A record that moved to a page read already is missed, and created again.',
    patches: [
      {
        file: 'service/lists/walk.js',
        find: 'const moved = lower !== undefined && pass.latestCount !== countBefore;',
        replace: 'const moved = false;',
      },
      { file: 'service/lists/walk-list.js', find: 'return result?.sound === true;', replace: 'return true;' },
      {
        file: 'service/lists/walk-list.js',
        find: 'if (!result?.sound || !ends)',
        replace: 'return true; if (!ends)',
      },
    ],
  },
  {
    name: 'keys compared as they are spelled',
    scenario: 'filters',
    why: 'The same key in another Unicode form is another record.',
    patches: [{ file: 'model/value.js', find: "return text.normalize('NFKC')", replace: 'return text' }],
  },
  {
    name: 'duplicates not noticed',
    scenario: 'plain',
    why: 'The second row of a key is written, too.',
    patches: [
      {
        file: 'pipeline/resolve/resolve.js',
        find: 'if (first === undefined)',
        replace: 'if (true)',
      },
    ],
  },
  {
    name: 'a field is not carried over',
    scenario: 'plain',
    why: 'A PUT clears what it leaves out.',
    patches: [
      {
        file: 'resources/write.js',
        find: 'const path = field[operation];',
        replace: "if (field.name === 'asset_tag') return undefined; const path = field[operation];",
      },
    ],
  },
  {
    name: 'nothing is carried over',
    scenario: 'plain',
    why: 'A PUT clears what it leaves out.',
    patches: [
      {
        file: 'pipeline/plan/merge.js',
        find: 'const target = { ...base };',
        replace: 'const target = { name: base.name, category: base.category, "category.name": base["category.name"] };',
      },
    ],
  },
  {
    name: 'a blank cell clears',
    scenario: 'plain',
    why: 'The job says that it keeps.',
    patches: [
      {
        file: 'pipeline/map/map.js',
        find: 'return column.whenBlank;',
        replace: "return column.whenBlank ?? (column.field === 'lifecycle_stage' ? null : undefined);",
      },
    ],
  },
  {
    name: 'amounts through a double',
    scenario: 'plain',
    why: 'A double cannot hold 99999999999999.99.',
    patches: [
      { file: 'model/json.js', find: 'if (digits.length <= 15 && Number.isFinite(value))', replace: 'if (true)' },
    ],
  },
  {
    name: 'the template is sent as it was read',
    scenario: 'plain',
    why: 'The write form names fields by id; sent otherwise they are lost.',
    patches: [
      {
        file: 'resources/write.js',
        find: 'const item = { id: chosen[0], fields: values };',
        replace: 'const item = { id: chosen[0], fields: [] };',
      },
    ],
  },
  {
    name: 'forms are left out',
    scenario: 'plain',
    why: 'A PUT clears what it leaves out.',
    patches: [
      {
        file: 'resources/write.js',
        find: 'this.putForms(custom);',
        replace: ';',
      },
    ],
  },
  {
    name: 'a value at risk is sent',
    scenario: 'plain',
    why: 'The update destroys what it cannot carry.',
    patches: [
      {
        file: 'pipeline/plan/plan.js',
        find: "if (merge.risks.length > 0 && policy !== 'warn')",
        replace: 'if (false)',
      },
      {
        file: 'pipeline/apply/update.js',
        find: "if (merge.risks.length > 0 && plan.job.write.at_risk !== 'warn')",
        replace: 'if (false)',
      },
    ],
  },
  {
    name: 'what reads do not show is forgotten',
    scenario: 'hidden',
    why: 'Our own last write is the only one that knows it.',
    patches: [{ file: 'pipeline/plan/last-writes.js', find: 'kept[field] = fields[field];', replace: ';' }],
  },
  {
    name: 'an unchanged row is sent',
    scenario: 'plain',
    why: 'Every night writes everything.',
    patches: [
      {
        file: 'pipeline/plan/plan.js',
        find: 'if (!failed && changes.length === 0 && !row.after) {',
        replace: 'if (false) {',
      },
      {
        file: 'pipeline/apply/update.js',
        find: 'if (changes.length === 0)\n                return { kind:',
        replace: 'if (false)\n                return { kind:',
      },
    ],
  },
  {
    name: 'a faulty row is sent',
    scenario: 'plain',
    why: 'What could not be read is left out, and the rest is written.',
    patches: [
      { file: 'pipeline/plan/plan.js', find: 'if (errors.length > 0 && !mayRepeat)', replace: 'if (false)' },
      { file: 'pipeline/plan/plan.js', find: "return this.settle('invalid', issues);", replace: ';' },
    ],
  },
  {
    name: 'ids in the order of the rows',
    scenario: 'plain',
    why: 'Requests overtake one another.',
    patches: [
      {
        file: 'pipeline/match/look-up.js',
        find: 'const row = rows.get(key);\n        if',
        replace: 'const row = [...rows.values()].reverse()[[...found.keys()].indexOf(key)];\n        if',
      },
    ],
  },
];
