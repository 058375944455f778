import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { keptSteps, nextStep, stepsKept, type TourStep } from '../../model/tour.js';
import { call } from './api.js';
import { place } from './location.js';
import { remembered, tour, tourAsked } from './preferences.js';
import { changedAt, useQuery } from './query.js';

/** Prompts and judges that are asked whether people spoke of them. */
const MAX_PROMPTS = 8;
const WAITING_MS = 3000;

const NO_GOALS: TourGoals = { traceId: null, prompt: null, judgeId: null };

const kept = new Map<string, Signal<string>>();

/** What was done in the project that is shown, as far as this browser knows. */
function doneHere(): Signal<string> {
  const project = place.value.project ?? '';
  const known = kept.get(project) ?? remembered(`tour.${project}`, '');
  kept.set(project, known);
  return known;
}

/** A trace is shown: only this browser knows. */
export function traceOpened(): void {
  learn(['open']);
}

function learn(steps: readonly TourStep[]): void {
  const here = doneHere();
  const before = stepsKept(here.peek());
  if (steps.some((step) => !before.has(step))) here.value = keptSteps(new Set([...before, ...steps]));
}

/** What is there to continue with. */
interface TourGoals {
  readonly traceId: string | null;
  readonly prompt: string | null;
  readonly judgeId: string | null;
}

export interface Tour extends TourGoals {
  /** Whether the server was asked. Until then it is what this browser remembers. */
  readonly isKnown: boolean;
  readonly done: ReadonlySet<TourStep>;
  readonly next: TourStep | undefined;
}

/** What of the tour was done, by whomever; undefined: no one needs it. What was done once is not asked again. */
export function useTour(): Tour | undefined {
  const done = stepsKept(doneHere().value);
  const isShown = tour.value === 'shown' && (nextStep(done) !== undefined || tourAsked.value !== null);
  const { data, error } = useQuery({
    key: ['tour'],
    enabled: isShown,
    ask: find,
    every: (found) => (found?.traceId === null ? WAITING_MS : false),
    keep: false,
  });
  const traceId = data?.traceId;
  const before = useRef(traceId);
  useEffect(() => {
    // What is shown beside the tour has been empty so far.
    if (before.current === null && traceId != null) for (const list of ['/traces', '/spans']) void changedAt(list);
    before.current = traceId;
  }, [traceId]);
  if (!isShown || (data === undefined && error !== null)) return undefined;
  return { ...(data ?? NO_GOALS), isKnown: data !== undefined, done, next: nextStep(done) };
}

async function find(signal: AbortSignal): Promise<TourGoals> {
  const done = stepsKept(doneHere().peek());
  const [[trace], all, judges] = await Promise.all([
    call('GET /traces', { query: { limit: 1, fields: 'id' }, signal }),
    call('GET /projects/:project_id/prompts', { query: { limit: 2 * MAX_PROMPTS }, signal }),
    call('GET /projects/:project_id/judges', { query: { limit: MAX_PROMPTS }, signal }),
  ]);
  // Instructions of judges are prompts, too: no one made them for an application.
  const prompts = all.filter(({ slug }) => !judges.some(({ task_slug }) => task_slug === slug)).slice(0, MAX_PROMPTS);
  const [feedback, corrections] = await Promise.all([
    counted(done.has('feedback') ? [] : prompts, async ({ slug }) => {
      const asked = { params: { prompt_slug: slug }, query: { limit: 1 }, signal };
      return (await call('GET /projects/:project_id/prompts/:prompt_slug/feedback', asked)).total;
    }),
    counted(done.has('correct') ? [] : judges, async ({ id }) => {
      const asked = { params: { judge_id: id }, signal };
      return (await call('GET /projects/:project_id/judges/:judge_id/calibration', asked)).count;
    }),
  ]);
  const found: Record<Exclude<TourStep, 'open'>, boolean> = {
    trace: trace !== undefined,
    prompt: prompts.length > 0,
    feedback: feedback > 0,
    judge: judges.length > 0,
    correct: corrections > 0,
  };
  learn((Object.keys(found) as (keyof typeof found)[]).filter((step) => found[step]));
  return { traceId: trace?.id ?? null, prompt: prompts[0]?.slug ?? null, judgeId: judges[0]?.id ?? null };
}

async function counted<T>(of: readonly T[], count: (each: T) => Promise<number>): Promise<number> {
  return (await Promise.all(of.map(count))).reduce((sum, each) => sum + each, 0);
}
