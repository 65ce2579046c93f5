import { GOOD_OUTCOMES, OUTCOMES } from '../../model/outcome.js';
import type { EndedRun } from './ended.js';
import { TELLING_MS } from './job-state.js';
import type { Found } from './notification.js';
import type { NotifierState } from './notifier-port.js';

/**
 * What the last run of a reconcile job found, kept in the store by job and company, so that only what changed is told,
 * and once. Runs that finished count, report-only ones among them; failed and braked ones found nothing that can be compared.
 *
 *     more rows need a person, or more orphans, than at the last run ──> tell `worse`
 *     orphans need a person, and nothing did at the last run ──────────> tell `worse`
 *     something needed a person, and nothing does now ─────────────────> tell `recovered`
 *     anything else ───────────────────────────────────────────────────> silence
 *
 * At the first run what needs a person is news, orphans alone are not. A run that could not tell its orphans leaves their
 * number as it was. Both may be told of one run: nothing needs a person any more, and there are more orphans.
 * Of two workers, the one whose `swap` brought the run's numbers tells them. What was told is kept beside it: where nobody
 * did within a minute, the next run tells it, if it still holds.
 */
export interface News {
  readonly event: NewsKind;
  /** Undefined: it is the job's first run. */
  readonly before?: Found;
  readonly now: Found;
  /** To be called when it has gone out. */
  told(): Promise<void>;
}

type NewsKind = 'worse' | 'recovered';

/** What was news at a run: it is the same piece of news until another run makes it anew. */
interface Piece {
  readonly run: string;
  readonly at: number;
  readonly before?: Found;
}

interface State extends Found {
  readonly run: string;
  readonly news: { readonly [kind in NewsKind]?: Piece };
}

export async function noteNight(store: NotifierState, run: EndedRun, at: number): Promise<readonly News[]> {
  if (run.run === undefined || (run.status !== 'succeeded' && run.status !== 'partial')) return [];
  const id = run.run;
  const found = foundBy(run);
  // A company is a number: names of jobs may hold anything.
  const own = `${run.company ?? ''}.${run.job}`;
  const name = `notify.night.${own}`;
  const seen = parse(await store.read(name));
  const made = next(seen, found, id, at);
  const before = parse(await store.swap(name, JSON.stringify(made)));
  const state = before?.run === seen?.run ? made : next(before, found, id, at);
  // Another run came in between: what is kept is compared with that one.
  if (state !== made) await store.swap(name, JSON.stringify(state));

  const news: News[] = [];
  for (const event of ['worse', 'recovered'] as const) {
    const piece = state.news[event];
    if (!piece) continue;
    const toldName = `notify.night-told.${event}.${own}`;
    // The end of a run may be told twice; the second time it is no news any more.
    const fresh = piece.run === id && before?.run !== id;
    if (!fresh && ((await store.read(toldName)) === piece.run || at - piece.at < TELLING_MS)) continue;
    news.push({
      event,
      ...(piece.before && { before: piece.before }),
      now: plain(state),
      told: async () => {
        await store.swap(toldName, piece.run);
      },
    });
  }
  return news;
}

function foundBy({ status, counts = {}, orphans }: EndedRun): Found {
  const needsPerson = OUTCOMES.reduce((sum, kind) => sum + (GOOD_OUTCOMES.has(kind) ? 0 : (counts[kind] ?? 0)), 0);
  return plain({ needsPerson, orphans, open: needsPerson > 0 || status === 'partial' });
}

function next(before: State | undefined, found: Found, run: string, at: number): State {
  if (before?.run === run) return before;
  const now = plain({ ...found, orphans: found.orphans ?? before?.orphans });
  const piece: Piece = { run, at, ...(before && { before: plain(before) }) };
  const { worse: oldWorse, recovered: oldRecovered } = before?.news ?? {};
  const worse = isWorse(before, now) ? piece : oldWorse && isWorse(oldWorse.before, now) ? oldWorse : undefined;
  const recovered = now.open ? undefined : before?.open ? piece : oldRecovered;
  return { ...now, run, news: { ...(worse && { worse }), ...(recovered && { recovered }) } };
}

function isWorse(before: Found | undefined, now: Found): boolean {
  if (now.needsPerson > (before?.needsPerson ?? 0) || (now.open && !before?.open)) return true;
  return before?.orphans !== undefined && (now.orphans ?? 0) > before.orphans;
}

function plain({ needsPerson, orphans, open }: Omit<Found, 'orphans'> & { orphans?: number | undefined }): Found {
  return { needsPerson, ...(orphans !== undefined && { orphans }), open };
}

/** A text of another version counts as none. */
function parse(text: string | undefined): State | undefined {
  if (text === undefined) return undefined;
  try {
    const { run, needsPerson, orphans, open, news } = JSON.parse(text) as Partial<State>;
    if (typeof run !== 'string' || typeof needsPerson !== 'number') return undefined;
    return {
      run,
      needsPerson,
      ...(typeof orphans === 'number' && { orphans }),
      open: typeof open === 'boolean' ? open : needsPerson > 0,
      news: typeof news === 'object' && news !== null ? news : {},
    };
  } catch {
    return undefined;
  }
}
