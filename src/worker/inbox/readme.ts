import { join } from 'node:path';
import { shown } from './claim.js';

/** README.txt of a job's folder: for people who know spreadsheets and nothing of this program. */
export function readmeText(dir: string, job: string): string {
  const ended = (place: string) => join(dir, place, job);
  return `This folder imports spreadsheets: job "${shown(job)}"
${'='.repeat(45)}

WHAT TO DO
  Put a spreadsheet (.xlsx, .csv, .ndjson; each also as .gz) into this folder. That is all.

WHAT HAPPENS THEN
  As soon as nobody has changed the file for 2 seconds and no program is still writing it, it is
  taken out of this folder and imported. An empty file is taken after 10 seconds.
  If another program delivers the file, it can put an empty file beside it when it is done:
  for assets.xlsx the name is assets.xlsx.ready. The file is then taken at once.

WHERE YOUR FILE IS AFTERWARDS
  Imported:      ${ended('done')}
  Not imported:  ${ended('failed')}
  Each import has a folder of its own there. Its name begins with date and time (UTC).

WHAT YOU FIND THERE
  report.html     the import on one page; open it first
  rejected.xlsx   (or rejected.csv) only the rows that need you, with what is wrong in each.
                  Correct them in that very file and put it into this folder again;
                  leave the columns that begin with _ as they are, they are not imported.
  results.csv     every row of your file and what became of it
  ERROR.txt       if the file could not be imported: why, and what to do
  NOTE.txt        if the file was not imported because its content had been imported before

WHAT IS LEFT ALONE
  Names that begin with . or ~$, names that end in .tmp .part .crdownload .filepart .ready,
  Thumbs.db, desktop.ini, and this README.txt. Folders are left alone, too: put files here.
  Links are not taken: copy the file itself.

WHOM TO ASK
  Whoever runs rowferry in your house. Give the name of the folder with date and time.
`;
}
