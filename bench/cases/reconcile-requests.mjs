import { scriptResult } from '../measure/scripts.mjs';

export default {
  name: 'reconcile-requests',
  title: 'nightly reconcile, 1% changed: requests',
  baseline: 'M/25 + changed + 10; later nights a twentieth of it',
  counts: true,
  async open({ quick }) {
    const { records, nights } = await scriptResult('reconcile-requests.mjs', quick ? ['--quick'] : []);
    return {
      command: `node bench/reconcile-requests.mjs${quick ? ' --quick' : ''}`,
      results: nights.map(({ night, requests, goal }) => ({
        what: `${records.toLocaleString('en-US')} records, ${night}`,
        goal: { most: 1 },
        ours: { value: requests, unit: 'requests' },
        baseline: { value: goal, unit: 'requests' },
        ratio: requests / goal,
      })),
    };
  },
};
