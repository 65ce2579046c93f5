import type { TakingKind } from '../job-files.js';
import { shown } from './claim.js';

/** README.txt of a job's folder: for people who know spreadsheets and nothing of this program. */
export function readmeText(job: string, kind: TakingKind): string {
  const { title, done, run, more, reports } = WORDS[kind];
  const fine = `${done[0]?.toUpperCase()}${done.slice(1)}:`;
  const place = (words: string, at: string) => `  ${words.padEnd(done.length + 7)}${at}/${shown(job)}`;
  return `${title}: job "${shown(job)}"
${'='.repeat(45)}

WHAT TO DO
  Put a spreadsheet (.xlsx, .ods, .csv, .ndjson; each also as .gz) into this folder. That is all.

WHAT HAPPENS THEN
  As soon as nobody has changed the file for 2 seconds, it is taken out of this folder and ${done}.
  An empty file is taken after 10 seconds.
  If another program delivers the file, it can put an empty file beside it when it is done:
  for assets.xlsx the name is assets.xlsx.ready. The file is then taken at once.
${more}
WHERE YOUR FILE IS AFTERWARDS, seen from the folder above this one
${place(fine, 'done')}
${place(`Not ${done}:`, 'failed')}
  Each ${run} has a folder of its own there. Its name says date and time (UTC), the file, and what came of it.

WHAT YOU FIND THERE
${reports}
WHAT IS LEFT ALONE
  Names that begin with . or ~$, names that end in .tmp .part .crdownload .filepart .ready,
  Thumbs.db, desktop.ini, and this README.txt. Folders are left alone, too: put files here.
  Links are not taken: copy the file itself.

WHOM TO ASK
  Whoever runs rowferry in your house. Give the name of the folder with date and time.
`;
}

interface Words {
  readonly title: string;
  /** What is done with a file. */
  readonly done: string;
  readonly run: string;
  readonly more: string;
  readonly reports: string;
}

const WORDS: Readonly<Record<TakingKind, Words>> = {
  import: {
    title: 'This folder imports spreadsheets',
    done: 'imported',
    run: 'import',
    more: '',
    reports: `  report.html     the import on one page; open it first
  rejected.xlsx   (or rejected.csv) only the rows that need you, with what is wrong in each.
                  Correct them in that very file and put it into this folder again;
                  leave the columns that begin with _ as they are, they are not imported.
  results.csv     every row of your file and what became of it
  ERROR.txt       if the file could not be imported: why, and what to do
  NOTE.txt        if the file was not imported because its content had been imported before
`,
  },
  reconcile: {
    title: 'This folder compares spreadsheets with the service',
    done: 'compared',
    run: 'comparison',
    more: `  The file must be whole: what it does not hold counts as missing. Whether differences are put right,
  or only reported, says the job. The same file may be put here again and again.
`,
    reports: `  report.html     the comparison on one page; open it first
  reconcile.xlsx  the same as a workbook: what differs, what is missing, what needs you
  rejected.xlsx   (or rejected.csv) only the rows that need you, with what is wrong in each.
                  Correct them where the file comes from. Do not put this one here: it is not whole.
  results.csv     every row of your file and what became of it
  ERROR.txt       if the file could not be compared, or a brake stopped it: why, and what to do
`,
  },
};
