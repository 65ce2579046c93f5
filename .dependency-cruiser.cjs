/** Who may import whom: README, "A map of the source". */
const only = (from, ...to) => ({
  name: `${from}-imports`,
  severity: 'error',
  comment: `src/${from} may import only: ${[from, ...to].join(', ')}`,
  from: { path: `^src/${from}/` },
  to: { path: '^src/', pathNot: `^src/(${[from, ...to].join('|')})/` },
});

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    only('model'),
    {
      name: 'model-zod-only',
      severity: 'error',
      from: { path: '^src/model/' },
      to: { dependencyTypes: ['npm', 'core'], pathNot: 'node_modules/zod/' },
    },
    only('resources', 'model'),
    only('compact'),
    only('files', 'model', 'trace'),
    only('store', 'model', 'trace'),
    only('report', 'model', 'files', 'store', 'trace'),
    only('service', 'model', 'resources', 'compact', 'store', 'trace'),
    only('pipeline', 'model', 'resources', 'service'),
    {
      name: 'pipeline-service-types-only',
      severity: 'error',
      comment: 'the pipeline sees the service through its port, as types',
      from: { path: '^src/pipeline/' },
      to: { path: '^src/service/', pathNot: '^src/service/port\\.ts$' },
    },
    {
      name: 'pipeline-service-port-is-types',
      severity: 'error',
      from: { path: '^src/pipeline/' },
      to: { path: '^src/service/', dependencyTypesNot: ['type-only'] },
    },
    only('export', 'model', 'resources', 'service', 'pipeline'),
    only('blank-workbook', 'model', 'resources', 'files'),
    only('suggest', 'model', 'resources', 'files', 'pipeline'),
    only('runs', 'model', 'resources', 'compact', 'files', 'store', 'report', 'service', 'pipeline', 'export', 'blank-workbook', 'suggest', 'trace'),
    only('worker', 'api', 'runs', 'model', 'store', 'trace'),
    only('api', 'worker', 'runs', 'report', 'resources', 'files', 'store', 'model', 'trace'),
    only('library', 'api', 'runs', 'model', 'report', 'worker', 'sandbox'),
    only('cli', 'library', 'api', 'runs', 'model', 'worker', 'sandbox'),
    only('trace'),
    only('sandbox'),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  },
};
