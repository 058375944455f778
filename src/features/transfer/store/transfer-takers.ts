import { randomBytes } from 'node:crypto';
import type { Evaluation } from '../../judges/evaluation.js';
import type { Micros } from '../../../engine/timestamp.js';
import type { MetadataPart } from '../parts.js';
import type { Database } from '../../../engine/metadata/database.js';
import { LAST_DELETION } from '../../../engine/metadata/deletion-numbers.js';
import { SETTINGS, settingsBy, type JudgeSettings } from '../../judges/settings.js';
import { evaluationInsert } from '../../judges/store/evaluation-rows.js';
import { evaluationTraces } from '../../judges/store/judged-traces.js';
import { JUDGE_COLUMNS, toRow } from '../../judges/store/judge-rows.js';
import { NO_VERSION } from '../../prompts/store/tag-pins.js';
import { datasetTakers } from './dataset-takers.js';
import { experimentTakers } from './experiment-takers.js';
import type { HeldRows } from './held-rows.js';
import { pinTakers } from './pin-takers.js';
import { importedPeople, type Person } from '../../../engine/identity/store/imported-people.js';
import { missing, TAKEN, text, type By, type Misfit, type Take, type Values } from './take.js';

/** Whether a row of a table is the project's. */
function ownership(db: Database, table: 'prompts' | 'judges' | 'feedback_links') {
  const find = db.prepare<[unknown, string], number>(`SELECT 1 FROM ${table} WHERE id = ? AND project_id = ?`).pluck();
  return (projectId: string, id: unknown) => find.get(id, projectId) === 1;
}

type Owner = 'project_id' | 'prompt_id';

/**
 * Inserts a row unless its id is there, and then tells whether that is the same thing.
 * @param more SQL of further columns
 * @returns a function of the row's id and owner, and of what makes the row where it is not there: users whom it names, too
 */
function insertion(db: Database, table: string, columns: readonly string[], owner: Owner, more: Values = {}) {
  const all = { ...Object.fromEntries(columns.map((name) => [name, `@${name}`])), ...more };
  const insert = db.prepare<Values>(
    `INSERT INTO ${table} (${Object.keys(all).join(', ')}) VALUES (${Object.values(all).join(', ')})`,
  );
  const ownerOf = db.prepare<[unknown]>(`SELECT ${owner} FROM ${table} WHERE id = ?`).pluck();
  return (id: unknown, of: unknown, row: () => Values): boolean | Misfit => {
    const known = ownerOf.get(id);
    if (known === undefined) {
      insert.run({ ...row(), id, [owner]: of });
      return true;
    }
    return known === of ? false : { field: 'id', detail: TAKEN, taken: true };
  };
}

const bit = (value: unknown) => (value === true ? 1 : 0);

/** How the records of each part are stored. */
export function takers(db: Database, held: HeldRows): Readonly<Record<MetadataPart, Take>> {
  const person = importedPeople(db);
  const by = (projectId: string, value: unknown) => person(projectId, value as Person);
  return {
    ...promptTakers(db, by),
    ...judgeTakers(db, by),
    ...feedbackTakers(db, by),
    comments: commentTaker(db, by),
    prices: priceTaker(db),
    score_definitions: definitionTaker(db),
    ...viewTakers(db, by),
    ...datasetTakers(db, by, held),
    ...experimentTakers(db, by),
    ...pinTakers(db),
  };
}

function promptTakers(db: Database, by: By) {
  const hasPrompt = ownership(db, 'prompts');
  const prompt = insertion(db, 'prompts', ['id', 'project_id', 'slug', 'created_at', 'last_version'], 'project_id');
  const version = insertion(
    db,
    'prompt_versions',
    [
      ...['id', 'prompt_id', 'version', 'content_hash', 'model_id', 'metadata', 'created_at', 'created_by'],
      ...['updated_at', 'content', 'is_chat', 'config'],
    ],
    'prompt_id',
  );
  const count = db.prepare<Values>(
    'UPDATE prompts SET last_version = max(last_version, @version) WHERE id = @prompt_id',
  );
  // One to a version that is not there, as it was deleted since, is history alone.
  const move = db.prepare<Values>(
    `INSERT INTO prompt_tag_pins (prompt_id, tag, version, pinned_at, stored_at, pinned_by, counts)
     VALUES (@prompt_id, @tag, @version, @pinned_at, @now, @by, @version = ${NO_VERSION}
       OR EXISTS (SELECT 1 FROM prompt_versions WHERE prompt_id = @prompt_id AND version = @version))`,
  );
  const moved = db.prepare<Values, number>(
    `SELECT 1 FROM prompt_tag_pins
     WHERE prompt_id = @prompt_id AND tag = @tag AND pinned_at = @pinned_at AND version = @version LIMIT 1`,
  );
  return {
    prompts: (projectId, record) => prompt(record['id'], projectId, () => record),
    prompt_versions(projectId, record) {
      if (!hasPrompt(projectId, record['prompt_id'])) return missing('prompt_id', 'prompt');
      const stored = version(record['id'], record['prompt_id'], () => ({
        ...record,
        content_hash: String(record['content_hash']).toLowerCase(),
        metadata: text(record['metadata']),
        is_chat: bit(record['is_chat']),
        config: text(record['config'] ?? {}),
        created_by: by(projectId, record['created_by']),
      }));
      if (stored === true) count.run(record);
      return stored;
    },
    tag_moves(projectId, { pinned_by, ...record }) {
      if (!hasPrompt(projectId, record['prompt_id'])) return missing('prompt_id', 'prompt');
      const row = { ...record, version: record['version'] ?? NO_VERSION };
      if (moved.get(row) !== undefined) return false;
      move.run({ ...row, by: by(projectId, pinned_by), now: Date.now() * 1000 });
      return true;
    },
  } satisfies Partial<Record<MetadataPart, Take>>;
}

function priceTaker(db: Database): Take {
  const insert = db.prepare<Values>(
    `INSERT INTO model_prices (project_id, provider, model, input_per_million, output_per_million, cache_read_per_million,
       created_at, updated_at)
     VALUES (@project_id, @provider, @model, @input_per_million, @output_per_million, @cache_read_per_million,
       @created_at, @updated_at)
     ON CONFLICT DO NOTHING`,
  );
  return (projectId, record) => insert.run({ ...record, project_id: projectId }).changes > 0;
}

function definitionTaker(db: Database): Take {
  const insert = db.prepare<Values>(
    `INSERT INTO score_definitions (project_id, name, kind, min, max, categories, direction, description, created_at, updated_at)
     VALUES (@project_id, @name, @kind, @min, @max, @categories, @direction, @description, @created_at, @updated_at)
     ON CONFLICT DO NOTHING`,
  );
  const absent = { min: null, max: null, categories: null, direction: null, description: null };
  return (projectId, record) => {
    const categories = text(record['categories'] ?? null);
    return insert.run({ ...absent, ...record, categories, project_id: projectId }).changes > 0;
  };
}

function viewTakers(db: Database, by: By) {
  const shared = ['id', 'project_id', 'name', 'created_at', 'created_by', 'updated_at'];
  const view = insertion(db, 'saved_views', [...shared, 'list', 'query', 'columns'], 'project_id');
  const dashboard = insertion(db, 'dashboards', [...shared, 'window', 'charts', 'version'], 'project_id');
  return {
    saved_views: (projectId, record) =>
      view(record['id'], projectId, () => ({
        ...record,
        columns: text(record['columns']),
        created_by: by(projectId, record['created_by']),
      })),
    dashboards: (projectId, record) =>
      dashboard(record['id'], projectId, () => ({
        ...record,
        charts: text(record['charts']),
        created_by: by(projectId, record['created_by']),
      })),
  } satisfies Partial<Record<MetadataPart, Take>>;
}

const OF_SPANS: Misfit = { field: 'subject_id', detail: 'must be null, as the judge evaluates single spans' };
const STANDARD_SETTINGS = settingsBy((name) => SETTINGS[name].standard);

function judgeTakers(db: Database, by: By) {
  const subjectOf = db
    .prepare<[unknown, string], JudgeSettings['subject']>('SELECT subject FROM judges WHERE id = ? AND project_id = ?')
    .pluck();
  const judge = insertion(db, 'judges', JUDGE_COLUMNS, 'project_id');
  // Removing a correction makes a revision: none was removed at one that is still to come.
  const set = db.prepare<Values>(
    `INSERT INTO correction_sets (judge_id, revision, last_removal)
     VALUES (@id, max(@corrections_revision, @corrections_last_removal), @corrections_last_removal) ON CONFLICT DO NOTHING`,
  );
  const evaluate = evaluationInsert(db, true);
  const noteTraces = evaluationTraces(db);
  const evaluated = db.prepare<[unknown], string>('SELECT judge_id FROM evaluations WHERE id = ?').pluck();
  return {
    judges(projectId, record) {
      const stored = judge(record['id'], projectId, () => ({
        ...toRow({ ...STANDARD_SETTINGS, ...(record as unknown as JudgeSettings) }),
        created_by: by(projectId, record['created_by']),
        // Off: what it evaluates costs money, and is not to begin by itself.
        enabled: 0,
        judged_since: Date.now() * 1000,
      }));
      if (stored === true) set.run(record);
      return stored;
    },
    evaluations(projectId, { evaluation_duration_ms, subject_arrived_at, trace_ids, ...record }) {
      const subject = subjectOf.get(record['judge_id'], projectId);
      if (subject === undefined) return missing('judge_id', 'judge');
      if (subject === 'span' && record['subject_id'] != null) return OF_SPANS;
      const known = evaluated.get(record['id']);
      if (known === record['judge_id']) return false;
      if (known !== undefined) return { field: 'id', detail: 'is already used by another evaluation', taken: true };
      const { id: runId } = evaluate({
        ...(record as unknown as Evaluation),
        ...{ duration_ms: evaluation_duration_ms as number | null, project_id: projectId },
        subject_upto: (subject_arrived_at ?? null) as Micros | null,
      });
      if (trace_ids != null) noteTraces({ projectId, runId, traceIds: trace_ids as string[] });
      return true;
    },
  } satisfies Partial<Record<MetadataPart, Take>>;
}

function feedbackTakers(db: Database, by: By) {
  const [hasPrompt, hasJudge, hasLink] = [
    ownership(db, 'prompts'),
    ownership(db, 'judges'),
    ownership(db, 'feedback_links'),
  ];
  const link = insertion(
    db,
    'feedback_links',
    [
      ...[
        'id',
        'project_id',
        'prompt_id',
        'link_type',
        'spans',
        'token_hash',
        'created_at',
        'created_by',
        'expires_at',
      ],
      'revoked_at',
    ],
    'project_id',
  );
  // Whoever has a key is no guest, whatever a record says: guests go with their links.
  const guest = db.prepare<Values>(
    `INSERT INTO feedback_guests (link_id, guest_key, user_id)
     SELECT @link, @key, @user
     WHERE NOT EXISTS (SELECT 1 FROM api_keys WHERE project_id = @projectId AND user_id = @user)
       AND NOT EXISTS (SELECT 1 FROM feedback_guests WHERE user_id = @user)
     ON CONFLICT DO NOTHING`,
  );
  const give = insertion(
    db,
    'feedback',
    [
      ...['id', 'project_id', 'prompt_id', 'completion_id', 'user_id', 'judge_id', 'thumbs_up', 'reason'],
      ...['expected_output', 'metadata', 'expected_score', 'score_direction', 'criteria_feedback', 'created_at'],
      'updated_at',
    ],
    'project_id',
    { after_deletion: LAST_DELETION },
  );
  const given: Take = (projectId, { created_by, feedback_link_id, ...record }) => {
    if (feedback_link_id !== null && !hasLink(projectId, feedback_link_id))
      return missing('feedback_link_id', 'feedback link');
    return give(record['id'], projectId, () => {
      const user_id = by(projectId, created_by);
      const key = `imported/${user_id}`;
      if (feedback_link_id !== null) guest.run({ projectId, link: feedback_link_id, key, user: user_id });
      const [metadata, criteria_feedback] = [text(record['metadata']), text(record['criteria_feedback'])];
      return { ...record, user_id, metadata, criteria_feedback, thumbs_up: bit(record['thumbs_up']) };
    });
  };
  return {
    feedback_links(projectId, { span_ids: spans = null, ...record }) {
      if (record['prompt_id'] === null ? spans === null : !hasPrompt(projectId, record['prompt_id']))
        return missing('prompt_id', 'prompt');
      return link(record['id'], projectId, () => ({
        ...record,
        link_type: 'prompt_completion',
        spans: record['prompt_id'] === null ? text(spans) : null,
        created_by: by(projectId, record['created_by']),
        // Nobody knows a token with this hash.
        token_hash: randomBytes(32),
      }));
    },
    feedback(projectId, record) {
      if (!hasPrompt(projectId, record['prompt_id'])) return missing('prompt_id', 'prompt');
      if (record['judge_id'] !== null && !hasJudge(projectId, record['judge_id'])) return missing('judge_id', 'judge');
      return given(projectId, record);
    },
    span_feedback: (projectId, record) => given(projectId, { ...record, prompt_id: null, judge_id: null }),
    corrections: correctionTaker(db),
  } satisfies Partial<Record<MetadataPart, Take>>;
}

function commentTaker(db: Database, by: By): Take {
  const comment = insertion(
    db,
    'comments',
    ['id', 'project_id', 'trace_id', 'span_id', 'user_id', 'text', 'created_at', 'edited_at'],
    'project_id',
    { after_deletion: LAST_DELETION },
  );
  return (projectId, { created_by, ...record }) =>
    comment(record['id'], projectId, () => ({ ...record, user_id: by(projectId, created_by) }));
}

function correctionTaker(db: Database): Take {
  const isJudged = db
    .prepare<[unknown, string], number>(
      'SELECT 1 FROM feedback WHERE id = ? AND project_id = ? AND judge_id IS NOT NULL',
    )
    .pluck();
  const isEvaluated = db
    .prepare<Values, number>(
      `SELECT 1 FROM evaluations AS e JOIN feedback AS f ON f.judge_id = e.judge_id
       WHERE e.id = @evaluation_id AND f.id = @feedback_id`,
    )
    .pluck();
  const correct = db.prepare<Values>(
    `INSERT INTO corrections (feedback_id, judge_id, span_id, user_id, evaluation_seq, revision, thumbs_up, reason,
       expected_output, expected_score, score_direction, criteria_feedback, given_at)
     SELECT f.id, f.judge_id, f.completion_id, f.user_id, (SELECT seq FROM evaluations WHERE id = @evaluation_id),
       @revision, @thumbs_up, @reason, @expected_output, @expected_score, @score_direction, @criteria_feedback, @given_at
     FROM feedback AS f WHERE f.id = @feedback_id
     ON CONFLICT (feedback_id, coalesce(evaluation_seq, 0)) DO NOTHING`,
  );
  const advance = db.prepare<Values>(
    `INSERT INTO correction_sets (judge_id, revision, last_removal)
     SELECT judge_id, @revision, 0 FROM feedback WHERE id = @feedback_id
     ON CONFLICT (judge_id) DO UPDATE SET revision = max(revision, excluded.revision)`,
  );
  return (projectId, record) => {
    if (isJudged.get(record['feedback_id'], projectId) !== 1)
      return missing('feedback_id', "feedback on a judge's evaluation");
    if (record['evaluation_id'] !== null && isEvaluated.get(record) !== 1)
      return missing('evaluation_id', 'evaluation');
    const criteria_feedback = text(record['criteria_feedback']);
    const stored = correct.run({ ...record, criteria_feedback, thumbs_up: bit(record['thumbs_up']) }).changes > 0;
    if (stored) advance.run(record);
    return stored;
  };
}
