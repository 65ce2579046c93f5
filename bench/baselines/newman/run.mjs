/**
 * `newman run -d`: a collection of one POST, once for each row of a CSV file, as newman's command does it.
 *
 *   node bench/baselines/newman/run.mjs FILE URL
 *
 * newman has a package file of its own beside it, so that its dependencies stay out of reach of all else. Prints {"posted": n, "failed": n}.
 */
import newman from 'newman';
import { COLUMNS } from '../../measure/sheet.mjs';

const [file, url] = process.argv.slice(2);
const bare = new Set(['decimal']);
const members = COLUMNS.map(
  ({ heading, field, kind }) => `"${field}":${bare.has(kind) ? `{{${heading}}}` : `"{{${heading}}}"`}`,
);

const collection = {
  info: { name: 'assets', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
  item: [
    {
      name: 'create',
      request: {
        method: 'POST',
        url: `${url}/api/v2/asset?company=1`,
        header: [
          { key: 'Content-Type', value: 'application/json' },
          { key: 'Authorization', value: 'Bearer bench' },
        ],
        body: { mode: 'raw', raw: `{"company":1,${members.join(',')}}` },
      },
    },
  ],
};

newman.run({ collection, iterationData: file, reporters: [] }, (error, summary) => {
  if (error) throw error;
  const { requests } = summary.run.stats;
  console.info(JSON.stringify({ posted: requests.total - requests.failed, failed: requests.failed }));
});
