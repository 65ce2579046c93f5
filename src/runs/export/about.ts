import type { TableAbout } from '../../model/table.js';
import { count } from '../../report/summary.js';
import { MOST_PASSES } from '../../service/lists/whole-list.js';
import type { ReadConnection } from './connect.js';
import type { ExportPlan } from './plan.js';
import type { Records } from './records.js';
import type { ExportRun } from './run.js';

/** Names of the sheets: what the records are, for people. */
const TITLES: Readonly<Record<ExportRun['request']['resource'], string>> = {
  asset: 'Assets',
  contract: 'Contracts',
  supplier: 'Suppliers',
  customer: 'Customers',
  license: 'Licenses',
  company: 'Companies',
  user: 'Users',
  category: 'Categories',
  'usage-status': 'Usage statuses',
  'asset-owner': 'Asset owners',
  'custom-field-template': 'Custom field templates',
  'custom-form-template': 'Custom form templates',
};

/** What a workbook says of itself on its last sheet. */
export function aboutFile(
  run: ExportRun,
  { companyName }: ReadConnection,
  plan: ExportPlan,
  list: Records,
  rows: number,
): TableAbout {
  const { request, folder } = run;
  const company = companyName === undefined ? String(request.company) : `${companyName} (${request.company})`;
  const filters = plan.filter.described;
  return {
    title: TITLES[request.resource],
    facts: [
      ['Source', request.service],
      ['Company', company],
      ['Resource', request.resource],
      ['Read', `${request.startedAt.slice(0, 16).replace('T', ' ')} UTC`],
      ['Records', count(rows)],
      ...(filters.length > 0 ? [['Records read', count(list.records)] as const] : []),
      ['Filters', filters.length > 0 ? filters.join('; ') : 'none'],
      ['Order', plan.order.described],
      ['Consistency', consistency(list)],
      ...(request.editable ? EDITABLE : []),
      ['Run', folder.run],
    ],
  };
}

const EDITABLE = [
  ['Changing it', 'Change cells and import this file with the job file beside it. Grey columns are for information.'],
  ['Empty cells', 'A cell that you empty keeps its value in the service, unless the job says `blank: clear`.'],
] as const;

function consistency({ consistency: found, passes, neverWhole }: Records): string {
  if (neverWhole) return 'partial: the service has no list of customers; these are the ones that are known';
  if (found === 'verified' && passes === 1) return 'verified: each record was asked for by its id';
  return found === 'verified'
    ? `verified: read ${passes} times, and the last two agree`
    : passes < MOST_PASSES
      ? `partial: read ${passes} times, it held still and yet does not add up; a record may be missing`
      : `partial: read ${passes} times, and no two agreed; a record may be missing`;
}
