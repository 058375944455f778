import { ImportError } from '../import-error.js';
import { membersOf, textOf } from '../members.js';
import type { Given } from '../source-options.js';
import { ScoreBatch } from '../score-batch.js';
import type { Source, Step } from '../step.js';
import { isMissing, LangfuseApi, type Page, type PageRead } from './api.js';
import { openBlobExport } from './blob-export.js';
import { datasetSteps } from './datasets.js';
import { EventBatch } from './event-batch.js';
import { LANGFUSE, observationEvent, traceEvent } from './events.js';
import { promptSteps } from './prompts.js';
import { datedScoreOf } from './score.js';
import type { Thing } from './shapes.js';

const PHASES = ['traces', 'observations', 'scores', 'prompts', 'datasets'] as const;
type Phase = (typeof PHASES)[number];

interface Cursor {
  /** Null: all of it was imported up to `until`. */
  readonly phase: Phase | null;
  /** The page to go on with; null: the first. */
  readonly page: string | null;
  /** Only what began in this time, so that pages stay what they are. */
  readonly from: string | null;
  readonly until: string;
  /** How much was read. */
  readonly done: number;
}

/** A project of a Langfuse server, or the files that it exported to a bucket. @throws ImportError */
export async function openLangfuse(paths: readonly string[], given: Given): Promise<Source> {
  if (paths.length > 0) return openBlobExport(paths, given);
  const { sourceUrl = process.env['LANGFUSE_HOST'] ?? process.env['LANGFUSE_BASE_URL'], publicKey, secretKey } = given;
  if (sourceUrl === undefined || publicKey === undefined || secretKey === undefined)
    throw new ImportError(
      'Give the URL of the Langfuse server and the keys of the project with --source-url, --public-key and --secret-key, or name files of its blob export',
    );
  const api = new LangfuseApi({ url: sourceUrl, publicKey, secretKey });
  const project = await api.project();
  const since = given.sinceMs === null ? null : new Date(given.sinceMs).toISOString();
  const lists = new LangfuseLists(api, new Date().toISOString(), since);
  return {
    identity: JSON.stringify(['langfuse', sourceUrl, publicKey, since]),
    mark: LANGFUSE,
    size: { total: await lists.total(), unit: 'objects' },
    found: [`Project ${project} of ${sourceUrl}`],
    read: (cursor, target) => lists.read(cursor as Cursor | null, target),
  };
}

class LangfuseLists {
  readonly #api: LangfuseApi;
  readonly #now: string;
  readonly #since: string | null;

  constructor(api: LangfuseApi, now: string, since: string | null) {
    this.#api = api;
    this.#now = now;
    this.#since = since;
  }

  /** How many traces, observations and scores there are, as far as the server says. */
  async total(): Promise<number> {
    const range = { from: this.#since, until: this.#now };
    const totals = await Promise.all(
      [TRACES, OBSERVATIONS, SCORES].map(async (list) => {
        const found = await this.#api.page(list.path, list.query(range), null).catch((error: unknown) => {
          if (isMissing(error)) return { total: 0 };
          throw error;
        });
        return found.total ?? 0;
      }),
    );
    return Math.max(
      1,
      totals.reduce((sum, total) => sum + total, 0),
    );
  }

  async *read(known: Cursor | null, project: string): AsyncGenerator<Step> {
    const isDone = known !== null && known.phase === null;
    const range = {
      from: isDone ? known.until : (known?.from ?? this.#since),
      until: isDone ? this.#now : (known?.until ?? this.#now),
    };
    let done = isDone ? 0 : (known?.done ?? 0);
    const first = isDone ? 0 : PHASES.indexOf(known?.phase ?? 'traces');
    for (const [index, phase] of PHASES.entries()) {
      if (index < first) continue;
      let page = index === first && !isDone ? (known?.page ?? null) : null;
      const [events, scores] = [new EventBatch(), new ScoreBatch(project)];
      let pages = 0;
      do {
        const { steps, next, read } = await this.#page(phase, page, { range, events, scores, project });
        yield* steps;
        [page, done, pages] = [next, done + read, pages + 1];
        if (page === null || pages % PAGES_AT_ONCE === 0) {
          yield* events.steps();
          yield* scores.steps();
          const following = page === null ? (PHASES[index + 1] ?? null) : phase;
          yield { type: 'cursor', cursor: { phase: following, page, ...range, done } satisfies Cursor };
        }
        yield { type: 'progress', done };
      } while (page !== null);
    }
  }

  async #page(phase: Phase, page: string | null, { range, events, scores, project }: Reading): Promise<PageRead> {
    switch (phase) {
      case 'traces':
        return eventsOf(await this.#api.page(TRACES.path, TRACES.query(range), page ?? '1'), traceEvent, events);
      case 'observations':
        return eventsOf(await this.#observations(range, page), observationEvent, events);
      case 'scores': {
        const { things, next } = await this.#api.page(SCORES.path, SCORES.query(range), page ?? '1');
        const steps = things.flatMap((score) => [...scores.add(datedScoreOf(project, score))]);
        return { steps, next, read: things.length };
      }
      case 'prompts':
        return promptSteps(this.#api, page);
      case 'datasets':
        return datasetSteps(this.#api, page);
    }
  }

  /** By the older call, which answers metadata whole; newer servers may have the other alone. */
  async #observations(range: Range, page: string | null): Promise<Page> {
    if (page?.startsWith(BY_CURSOR) !== true) {
      try {
        return await this.#api.page(OBSERVATIONS.path, OBSERVATIONS.query(range), page ?? '1');
      } catch (error) {
        if (!isMissing(error) || page !== null) throw error;
      }
    }
    const cursor = page === null ? null : page.slice(BY_CURSOR.length);
    const query = { ...OBSERVATIONS.query(range), fields: V2_FIELDS };
    const found = await this.#api.cursorPage('/api/public/v2/observations', query, cursor);
    return { ...found, next: found.next === null ? null : BY_CURSOR + found.next };
  }
}

/** Pages that are sent together: the server takes many spans at once much faster than few. */
const PAGES_AT_ONCE = 5;

interface Reading {
  readonly range: Range;
  readonly events: EventBatch;
  readonly scores: ScoreBatch;
  readonly project: string;
}

interface Range {
  readonly from: string | null;
  readonly until: string;
}

const BY_CURSOR = 'cursor:';
const V2_FIELDS = 'core,basic,time,io,metadata,model,usage,prompt,metrics';

const TRACES = {
  path: '/api/public/traces',
  query: ({ from, until }: Range) => ({
    ...{ fields: 'core,io', orderBy: 'timestamp.asc', toTimestamp: until },
    ...(from !== null && { fromTimestamp: from }),
  }),
};
const OBSERVATIONS = {
  path: '/api/public/observations',
  query: ({ from, until }: Range) => ({ toStartTime: until, ...(from !== null && { fromStartTime: from }) }),
};
const SCORES = {
  path: '/api/public/v2/scores',
  query: ({ from, until }: Range) => ({ toTimestamp: until, ...(from !== null && { fromTimestamp: from }) }),
};

function eventsOf({ things, next }: Page, eventOf: typeof traceEvent, events: EventBatch): PageRead {
  const steps = things.flatMap((thing) => [...events.add(eventOf(thing), textOf(thing['id']) ?? 'one without an id')]);
  return { steps: [...truncated(things), ...steps], next, read: things.length };
}

/** The newer call says by a text of 200 characters that there is more. */
function truncated(things: readonly Thing[]): Step[] {
  const isCut = (value: unknown) => typeof value === 'string' && value.length === MAX_V2_METADATA;
  return things
    .filter((thing) => 'traceName' in thing && Object.values(membersOf(thing['metadata'])).some(isCut))
    .map((thing) => ({
      type: 'left',
      left: {
        what: `observation ${textOf(thing['id']) ?? ''}`,
        why: 'metadata values over 200 characters, which this server truncates',
      },
    }));
}

const MAX_V2_METADATA = 200;
