import type { RunDetail } from '../../api/schema.js';
import { counted, number } from '../kit/format.js';
import { Icon } from '../kit/icons.js';
import { OutcomeBar } from '../kit/parts.js';

/** Where a run stands; live numbers change in place. */
export function Working({ run, progress, what }: { run: RunDetail; progress: RunDetail['progress']; what: string }) {
  const total = progress?.total ?? run.rows;
  return (
    <div className="stack tight" role="status">
      <div className="line">
        <Icon name="spin" className="spin" />
        <span>
          {what}: {progress ? progress.phase : 'waiting for its turn'}
          {progress && ` · ${number(progress.done)}${total ? ` of ${counted(total, 'row')}` : ' rows'}`}
        </span>
      </div>
      {progress && <OutcomeBar counts={progress.outcomes} total={total ?? null} />}
    </div>
  );
}
