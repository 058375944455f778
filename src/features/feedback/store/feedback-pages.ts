import type {
  AuthoredFeedback,
  FeedbackArrival,
  FeedbackFilter,
  FeedbackPages,
  FeedbackPlace,
  FeedbackSelection,
  FeedbackVersion,
} from '../feedback-pages.js';
import type { PromptFeedbackCounts } from '../../prompts/prompt-figures.js';
import type { Window } from '../../../engine/schema/page.js';
import { MAX_MICROS } from '../../../engine/timestamp.js';
import { guarded, type Database } from '../../../engine/metadata/database.js';
import { FEEDBACK_COLUMNS, toFeedback } from './feedback-store.js';
import type { FeedbackRow } from './feedback-row.js';

type AuthoredRow = FeedbackRow & {
  readonly email: string | null;
  readonly name: string;
  readonly link_id: string | null;
};

interface Selected {
  readonly promptId: string | null;
  readonly projectId: string | null;
  /** JSON array of ids. */
  readonly spans: string | null;
  readonly start: number;
  readonly end: number;
  readonly thumbsUp: 0 | 1;
  readonly judgeId: string | null;
  readonly reviewer: string | null;
  readonly linkId: string | null;
}

/** The conditions of a filter that are not null. */
function conditionsOf({ thumbsUp, source, judgeId, reviewer, linkId }: FeedbackFilter): string[] {
  return [
    ...(thumbsUp === null ? [] : ['f.thumbs_up = @thumbsUp']),
    ...(source === null ? [] : [source === 'judge' ? 'f.judge_id IS NOT NULL' : 'f.judge_id IS NULL']),
    ...(judgeId === null ? [] : ['f.judge_id = @judgeId']),
    // Of the feedback: everyone in the installation who has the name may be very many.
    ...(reviewer === null ? [] : ['EXISTS (SELECT 1 FROM users AS u WHERE u.id = f.user_id AND u.name = @reviewer)']),
    ...(linkId === null
      ? []
      : ['EXISTS (SELECT 1 FROM feedback_guests AS g WHERE g.user_id = f.user_id AND g.link_id = @linkId)']),
  ];
}

/** Where feedback on a subject is found, by which index. */
const OF_PROMPT = { index: 'feedback_of_prompt', condition: 'f.prompt_id = @promptId' };
const OF_SPANS = {
  index: 'feedback_by_completion',
  condition: 'f.project_id = @projectId AND f.completion_id IN (SELECT value FROM json_each(@spans))',
};

function prepareList(db: Database, of: typeof OF_PROMPT, conditions: readonly string[], descending: boolean) {
  const where = [of.condition, 'f.created_at BETWEEN @start AND @end', ...conditions].join(' AND ');
  const [direction, beyond] = descending ? ['DESC', '<'] : ['ASC', '>'];
  // The index of prompts holds all that is asked for: rows may be large, and are read for a page alone.
  const from = `FROM feedback AS f INDEXED BY ${of.index} WHERE`;
  const places = (more: string) =>
    `SELECT f.id, f.completion_id, f.created_at ${from} ${where}${more} ORDER BY f.created_at ${direction}, f.id ${direction} LIMIT @limit`;
  return {
    count: db.prepare<Selected, number>(`SELECT count(*) ${from} ${where}`).pluck(),
    page: db.prepare<Selected & Window, FeedbackPlace>(`${places('')} OFFSET @offset`),
    first: db.prepare<Selected & { limit: number }, FeedbackPlace>(places('')),
    behind: db.prepare<Selected & { limit: number; lastAt: number; lastId: string }, FeedbackPlace>(
      places(` AND (f.created_at, f.id) ${beyond} (@lastAt, @lastId)`),
    ),
  };
}

function prepareArrivals(db: Database, conditions: readonly string[]) {
  const matches = ['f.created_at BETWEEN @start AND @end', ...conditions].join(' AND ');
  return db.prepare<
    Selected & { before: number; limit: number },
    Omit<FeedbackArrival, 'matches'> & { readonly matches: 0 | 1 }
  >(
    `SELECT f.id, f.arrival, (${matches}) AS matches FROM feedback AS f INDEXED BY feedback_by_arrival
     WHERE f.project_id = @projectId AND f.arrival < @before ORDER BY f.arrival DESC LIMIT @limit`,
  );
}

function prepareVersions(db: Database, conditions: readonly string[]) {
  const matches = ['f.created_at BETWEEN @start AND @end', ...conditions].join(' AND ');
  return db.prepare<
    Selected & { after: number; upTo: number; limit: number },
    Omit<FeedbackVersion, 'matches'> & { readonly matches: 0 | 1 }
  >(
    `SELECT f.id, f.version, (${matches}) AS matches FROM feedback AS f INDEXED BY feedback_by_version
     WHERE f.project_id = @projectId AND f.version > @after AND f.version <= @upTo ORDER BY f.version LIMIT @limit`,
  );
}

/** How much feedback there is on prompts, counted in the index alone. */
export class SqlitePromptFeedbackCounts implements PromptFeedbackCounts {
  readonly #counts;

  constructor(db: Database) {
    this.#counts = db.prepare<[string], { readonly id: string; readonly given: number }>(
      `SELECT f.prompt_id AS id, count(*) AS given FROM json_each(?) AS p
       CROSS JOIN feedback AS f INDEXED BY feedback_of_prompt ON f.prompt_id = p.value GROUP BY f.prompt_id`,
    );
  }

  byPrompt(promptIds: readonly string[]): Map<string, number> {
    const rows = guarded(() => this.#counts.all(JSON.stringify(promptIds)));
    return new Map(rows.map(({ id, given }) => [id, given]));
  }
}

/** Pages of the feedback on prompts, from the SQLite file. */
export class SqliteFeedbackPages implements FeedbackPages {
  readonly #db: Database;
  readonly #read;
  /** Prepared lists by the conditions that they use, as text. */
  readonly #lists = new Map<string, ReturnType<typeof prepareList>>();
  readonly #arrivals = new Map<string, ReturnType<typeof prepareArrivals>>();

  readonly #versions = new Map<string, ReturnType<typeof prepareVersions>>();
  readonly #version;

  constructor(db: Database) {
    this.#db = db;
    this.#version = db.prepare<[], number>('SELECT last FROM feedback_versions').pluck();
    this.#read = db.prepare<[string], AuthoredRow>(
      `SELECT f.*, u.email, u.name, g.link_id FROM (SELECT ${FEEDBACK_COLUMNS} FROM feedback) AS f JOIN users AS u ON u.id = f.user_id
       LEFT JOIN feedback_guests AS g ON g.user_id = f.user_id WHERE f.id IN (SELECT value FROM json_each(?))`,
    );
  }

  count({ subject, filter }: Pick<FeedbackSelection, 'subject' | 'filter'>): number {
    const of = { subject, filter, descending: true };
    return guarded(() => this.#list(of).count.get(selected(of)) ?? 0);
  }

  page(of: FeedbackSelection, window: Window): { places: FeedbackPlace[]; total: number } {
    const { page, count } = this.#list(of);
    const read = () => ({
      places: page.all({ ...selected(of), ...window }),
      total: count.get(selected(of)) ?? 0,
    });
    return guarded(() => this.#db.transaction(read)());
  }

  behind(of: FeedbackSelection, last: FeedbackPlace | null, limit: number): FeedbackPlace[] {
    const { first, behind } = this.#list(of);
    return guarded(() =>
      last === null
        ? first.all({ ...selected(of), limit })
        : behind.all({ ...selected(of), limit, lastAt: last.created_at, lastId: last.id }),
    );
  }

  arrivals(
    projectId: string,
    { promptId, filter }: { readonly promptId: string | null; readonly filter: FeedbackFilter },
    before: number | null,
    limit: number,
  ): FeedbackArrival[] {
    const conditions = [...conditionsOf(filter), ...(promptId === null ? [] : ['f.prompt_id = @promptId'])];
    const key = ['arrivals', ...conditions].join(' AND ');
    const statement = this.#arrivals.get(key) ?? prepareArrivals(this.#db, conditions);
    this.#arrivals.set(key, statement);
    const values = selected({ subject: { projectId, spanIds: [] }, filter, descending: true });
    const rows = guarded(() =>
      statement.all({ ...values, promptId, before: before ?? Number.MAX_SAFE_INTEGER, limit }),
    );
    return rows.map(({ matches, ...row }) => ({ ...row, matches: matches === 1 }));
  }

  version(): number {
    return guarded(() => this.#version.get() ?? 0);
  }

  versions(
    projectId: string,
    { promptId, filter }: { readonly promptId: string | null; readonly filter: FeedbackFilter },
    { after, upTo }: { readonly after: number; readonly upTo: number },
    limit: number,
  ): FeedbackVersion[] {
    const conditions = [...conditionsOf(filter), ...(promptId === null ? [] : ['f.prompt_id = @promptId'])];
    const key = ['versions', ...conditions].join(' AND ');
    const statement = this.#versions.get(key) ?? prepareVersions(this.#db, conditions);
    this.#versions.set(key, statement);
    const values = selected({ subject: { projectId, spanIds: [] }, filter, descending: true });
    const rows = guarded(() => statement.all({ ...values, promptId, after, upTo, limit }));
    return rows.map(({ matches, ...row }) => ({ ...row, matches: matches === 1 }));
  }

  read(ids: readonly string[]): Map<string, AuthoredFeedback> {
    const rows = guarded(() => this.#read.all(JSON.stringify(ids)));
    return new Map(
      rows.map(({ email, name, link_id, ...row }) => [
        row.id,
        { feedback: toFeedback(row), author: { id: row.user_id, email, name }, link_id },
      ]),
    );
  }

  #list({ subject, filter, descending }: FeedbackSelection): ReturnType<typeof prepareList> {
    const conditions = conditionsOf(filter);
    const found = 'promptId' in subject ? OF_PROMPT : OF_SPANS;
    const key = [found.index, ...conditions, descending].join(' AND ');
    const known = this.#lists.get(key) ?? prepareList(this.#db, found, conditions, descending);
    this.#lists.set(key, known);
    return known;
  }
}

function selected({ subject, filter }: FeedbackSelection): Selected {
  const { start, end, thumbsUp, judgeId, reviewer, linkId } = filter;
  const ofPrompt = 'promptId' in subject;
  return {
    promptId: ofPrompt ? subject.promptId : null,
    projectId: ofPrompt ? null : subject.projectId,
    spans: ofPrompt ? null : JSON.stringify(subject.spanIds),
    start: start ?? 0,
    end: end ?? MAX_MICROS,
    thumbsUp: thumbsUp === true ? 1 : 0,
    judgeId,
    reviewer,
    linkId,
  };
}
