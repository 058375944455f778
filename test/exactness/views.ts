import { isDeepStrictEqual } from 'node:util';
import { definitions } from '../harness/checked-api.js';
import { differenceOf } from './comparison.js';
import { markOf } from './experiment-figures.js';
import type { Recount } from './model.js';
import type { Listed } from './sent.js';
import { spanKey, type Read, type Tags } from './stored-span.js';
import { decimal } from './units.js';

/** A list as it is asked for. */
export interface View {
  readonly list: Listed;
  /** Of the query string, what chooses and sorts. */
  readonly parameters: string;
  /** Whether it lists what a recount says is there. */
  readonly holds: (read: Read, recount: Recount) => boolean;
  /** The field or score that it is sorted by: the largest first, nulls last. */
  readonly sort: string;
  /** Whether it shows scores. */
  readonly scores?: true;
  /** Whether it says itself what of experiments it lists. Absent: all. */
  readonly plain?: true;
}

const LIMITS: Readonly<Record<Listed, number>> = { spans: 10_000, traces: 500, sessions: 500 };

export function whole(list: Listed): View {
  return { list, parameters: '', holds: () => true, sort: list === 'sessions' ? 'created_at' : 'started_at' };
}

export function where(list: Listed, field: string, value: string | boolean): View {
  return { ...whole(list), parameters: `&${field}=${value}`, holds: (read) => read[field] === value };
}

/** What starts at some time or later. */
export function startedFrom(list: Listed, time: string): View {
  return {
    ...whole(list),
    parameters: `&started_after=${time}`,
    holds: ({ started_at }) => typeof started_at === 'string' && started_at >= time,
  };
}

/** The spans of the traces that belong to a session. */
export function spansOfSession(id: string): View {
  const ofTrace = ({ trace_id }: Read, { traces }: Recount) =>
    traces.get(String(trace_id))?.variants.some(({ session_id }) => session_id === id) ?? false;
  return { ...whole('spans'), parameters: `&session_id=${id}`, holds: ofTrace };
}

/** What has all of these tags, or has them in it. */
export function tagged(list: Listed, tags: Tags): View {
  const wanted = Object.entries(tags);
  return {
    ...whole(list),
    parameters: wanted.map(([key, value]) => `&tags.${key}=${encodeURIComponent(value)}`).join(''),
    holds: (read, recount) => {
      const within = everythingIn(list, read, recount);
      return wanted.every(([key, value]) => within.some((each) => (each['tags'] as Tags)[key] === value));
    },
  };
}

/** An object with everything in it. */
function everythingIn(list: Listed, read: Read, recount: Recount): readonly Read[] {
  if (list === 'spans') return [read];
  const below = list === 'traces' ? 'spans' : 'traces';
  const field = list === 'traces' ? 'trace_id' : 'session_id';
  const inside = [...recount[below].values()]
    .flatMap(({ variants }): readonly Read[] => variants.slice(0, 1))
    .filter((each) => each[field] === read['id']);
  return [read, ...inside.flatMap((each) => everythingIn(below, each, recount))];
}

/** The traces of an experiment: those that its spans are in, and those that they were made in. @param only absent: of any */
function tracesTried({ spans }: Recount, only?: string): ReadonlySet<unknown> {
  const read = [...spans.values()].flatMap(({ variants }): readonly Read[] => variants.slice(0, 1));
  return new Set(
    read.flatMap((span) => {
      const mark = markOf(span);
      return mark === null || (only ?? mark.experiment) !== mark.experiment ? [] : [span['trace_id'], mark.madeIn];
    }),
  );
}

/** A list without what is of experiments, or that alone. */
export function experiments(list: 'spans' | 'traces', tried: 'false' | 'only', more: View = whole(list)): View {
  const field = list === 'spans' ? 'trace_id' : 'id';
  return {
    ...more,
    // What is left out is what nobody asked for.
    parameters: `${more.parameters}${tried === 'false' ? '' : `&experiments=${tried}`}`,
    plain: true,
    holds: (read, recount) => more.holds(read, recount) && tracesTried(recount).has(read[field]) === (tried === 'only'),
  };
}

/** Spans of an experiment, or its traces. */
export function ofExperiment(list: 'spans' | 'traces', id: string): View {
  return {
    ...whole(list),
    parameters: `&experiment_id=${id}`,
    plain: true,
    holds: (read, recount) =>
      list === 'spans' ? markOf(read)?.experiment === id : tracesTried(recount, id).has(read['id']),
  };
}

/** The list with the scores of its objects, in its order or that of a score. @param chosen those with a score that is one of these */
export function withScores(list: Listed, sort: string | null, chosen: Readonly<Record<string, unknown[]>> = {}): View {
  const wanted = Object.entries(chosen);
  const filters = wanted.map(([name, values]) => `&scores.${name}=${values.join(',')}`).join('');
  return {
    ...whole(list),
    parameters: `&fields=${[...Object.keys(definitions[list].fields), 'scores'].join(',')}${filters}${sort === null ? '' : `&sort_by=${sort}`}`,
    holds: (read, recount) => {
      const scores = recount[list].get(keyOf(list, read))?.scores ?? {};
      return wanted.every(([name, values]) => values.includes(scores[name]));
    },
    ...(sort === null ? {} : { sort }),
    scores: true,
  };
}

export const tracesByCost: View = { ...whole('traces'), parameters: '&sort_by=cost', sort: 'cost' };

export function pathOf({ list, parameters, plain }: View): string {
  const all = plain === true || list === 'sessions' ? '' : '&experiments=true';
  return `/${list}?limit=${LIMITS[list]}${parameters}${all}`;
}

/** What distinguishes an answer from a recount; null: nothing does. */
export function disagreement(view: View, answers: readonly Read[], recount: Recount): string | null {
  const expected = new Map(
    [...recount[view.list]].filter(([, { variants }]) => variants.some((read) => view.holds(read, recount))),
  );
  const [wanted, listed] = [[...expected.keys()].sort(), answers.map((answer) => keyOf(view.list, answer)).sort()];
  if (!isDeepStrictEqual(listed, wanted)) return `ids must be ${wanted.join(', ')}, were ${listed.join(', ')}`;
  for (const row of answers) {
    const key = keyOf(view.list, row);
    const { scores, ...answer } = row;
    const difference = differenceOf(expected.get(key), view.scores === true ? answer : row);
    if (difference !== null) return `${key}: ${difference}`;
    const given = view.scores === true ? expected.get(key)?.scores : undefined;
    if (!isDeepStrictEqual(scores, given))
      return `${key}: scores must be ${JSON.stringify(given)}, were ${JSON.stringify(scores)}`;
  }
  const score = /^scores\.(.+)$/.exec(view.sort)?.[1];
  const sorted = answers.map((answer) =>
    score === undefined ? answer[view.sort] : ((answer['scores'] as Read)[score] ?? null),
  );
  return sorted.every((value, index) => index === 0 || !isLarger(value, sorted[index - 1]))
    ? null
    : `not sorted by ${view.sort}: ${sorted.map(String).join(', ')}`;
}

export function keyOf(list: Listed, read: Read): string {
  return list === 'spans' ? spanKey(read as { trace_id: unknown; id: unknown }) : String(read['id']);
}

/** Of times, of costs as decimal texts, or of scores; null is less than any. */
function isLarger(value: unknown, than: unknown): boolean {
  if (typeof value === 'number' && typeof than === 'number') return value > than;
  if (typeof value === 'boolean' && typeof than === 'boolean') return value && !than;
  if (typeof value !== 'string' || typeof than !== 'string') return than === null && value !== null;
  return value.includes('T') ? value > than : decimal(value, 12) > decimal(than, 12);
}
