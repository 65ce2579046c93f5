import { Command } from 'commander';
import { EXIT } from '../../model/error.js';
import { type Cli, print } from '../io.js';
import { readSettings, settingOptions } from '../setup.js';

export function checkCommand(cli: Cli): Command {
  const command = new Command('check')
    .description('validate job files; every problem is listed with its line')
    .argument(
      '[job...]',
      'job files, folders of them, or names of jobs in the jobs folder; without any: all of that folder',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ rowferry check jobs/assets.yaml
  $ rowferry check jobs/*.yaml

Exit code 0 if every file can be run, 2 if one cannot.`,
    )
    .action(async (jobs: string[], options: { jobsDir?: string }) => {
      cli.code = await checkJobs(cli, jobs, options);
    });
  return settingOptions(command, 'jobsDir');
}

async function checkJobs(cli: Cli, jobs: readonly string[], options: { jobsDir?: string }): Promise<number> {
  const { jobsDir } = await readSettings(cli, options);
  const [{ checkJobs }, { presentFailure }] = await Promise.all([
    import('../../runs/job-file.js'),
    import('../failure.js'),
  ]);
  const results = await checkJobs(jobs, { jobsDir, cwd: cli.io.cwd });
  let bad = 0;
  for (const result of results) {
    if (result.failure) presentFailure(result.failure, cli, { json: false });
    for (const line of result.lines) print(cli, line);
    if (!result.fine) bad++;
  }
  const files = (count: number) => (count === 1 ? '1 job file' : `${count} job files`);
  if (bad > 0) print(cli, `${bad} of ${files(results.length)} cannot be run`);
  else print(cli, `${files(results.length)} ${results.length === 1 ? 'is' : 'are'} fine`);
  return bad > 0 ? EXIT.usage : EXIT.ok;
}
