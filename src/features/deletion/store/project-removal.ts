import { correctionRemoval } from '../../feedback/store/correction-rows.js';
import type { Database } from '../../../engine/metadata/database.js';
import { evaluationRemoval } from '../../judges/store/evaluation-rows.js';
import { notePeople } from '../../../engine/identity/store/imported-people.js';
import { userRemoval } from '../../../engine/identity/store/user-removal.js';

/** Rows that one transaction removes: a few milliseconds of work. */
const AT_ONCE = 500;
/** Users that one transaction removes: each is looked for in every table that names users. */
const USERS_AT_ONCE = 200;
/** Keys that one transaction removes: up to 50 sign-ins go with each. */
const KEYS_AT_ONCE = 20;

interface Removal {
  readonly table: string;
  /** A condition for the table's rows of the project, whose id is `@projectId`. */
  readonly where: string;
  readonly key?: string;
  readonly atOnce?: number;
  /** How the rows go that a condition chooses; default: by a plain DELETE. */
  readonly by?: typeof correctionRemoval;
}

const OF_PROJECT = 'project_id = @projectId';
const ofJudges = 'judge_id IN (SELECT id FROM judges WHERE project_id = @projectId)';
const ofJobs = 'job_id IN (SELECT id FROM jobs WHERE project_id = @projectId)';
const ofPrompts = 'prompt_id IN (SELECT id FROM prompts WHERE project_id = @projectId)';
const ofDatasets = 'dataset_id IN (SELECT id FROM datasets WHERE project_id = @projectId)';
const inDatasets = 'dataset IN (SELECT seq FROM datasets WHERE project_id = @projectId)';
const inExperiments = 'experiment IN (SELECT seq FROM experiments WHERE project_id = @projectId)';
const ofPins = 'pin IN (SELECT seq FROM judge_pins WHERE project_id = @projectId)';
const ofLinks = 'link_id IN (SELECT id FROM feedback_links WHERE project_id = @projectId)';

/** Rows of a project that are removed by portions, in this order: a row that names another goes before it. */
const REMOVALS: readonly Removal[] = [
  { table: 'deletion_items', where: 'deletion IN (SELECT seq FROM deletions WHERE project_id = @projectId)' },
  { table: 'corrections', where: ofJudges, by: correctionRemoval },
  { table: 'feedback', where: OF_PROJECT },
  { table: 'evaluations', where: OF_PROJECT, by: evaluationRemoval },
  { table: 'judge_runs', where: ofJudges },
  { table: 'experiment_judges', where: inExperiments },
  { table: 'judge_pin_corrections', where: ofPins, key: '(pin, position)' },
  { table: 'judge_pins', where: OF_PROJECT },
  { table: 'judge_pin_examples', where: ofJudges },
  { table: 'judge_calls', where: OF_PROJECT, key: 'run_id' },
  // Behind runs and calls: only of these any are noted.
  { table: 'judged_traces', where: OF_PROJECT, key: '(project_id, trace_id, run_id)' },
  { table: 'judge_versions', where: ofJudges, key: '(judge_id, judge_version)' },
  { table: 'correction_sets', where: ofJudges, key: 'judge_id' },
  { table: 'job_steps', where: ofJobs, key: 'job_id', atOnce: 50 },
  { table: 'job_spans', where: ofJobs, key: 'job_id', atOnce: 50 },
  { table: 'job_traces', where: OF_PROJECT, key: '(project_id, trace_id, job_id, span_id)' },
  { table: 'promotions', where: ofJobs, key: 'job_id', atOnce: 50 },
  { table: 'jobs', where: OF_PROJECT },
  { table: 'judges', where: OF_PROJECT },
  { table: 'prompt_tag_pins', where: ofPrompts },
  { table: 'prompt_versions', where: ofPrompts },
  { table: 'feedback_guests', where: ofLinks, key: '(link_id, guest_key)', by: guestRemoval },
  { table: 'feedback_links', where: OF_PROJECT },
  { table: 'prompts', where: OF_PROJECT },
  { table: 'model_prices', where: OF_PROJECT, key: 'project_id' },
  { table: 'comparisons', where: OF_PROJECT, atOnce: 20 },
  { table: 'experiment_metrics', where: inExperiments, atOnce: 50 },
  { table: 'experiment_scorers', where: inExperiments, atOnce: 50 },
  { table: 'experiment_tag_moves', where: OF_PROJECT },
  { table: 'experiments', where: OF_PROJECT, atOnce: 100 },
  { table: 'dataset_tag_moves', where: ofDatasets },
  { table: 'dataset_rows', where: inDatasets },
  { table: 'dataset_contents', where: inDatasets, atOnce: 50 },
  { table: 'dataset_versions', where: ofDatasets },
  // Their contents, which name them, have taken them along.
  { table: 'dataset_files', where: OF_PROJECT, key: '(project_id, sha256, content)' },
  { table: 'datasets', where: OF_PROJECT },
  { table: 'score_definitions', where: OF_PROJECT, key: 'project_id' },
  { table: 'scheduled_exports', where: OF_PROJECT },
  { table: 'monitor_changes', where: 'monitor IN (SELECT seq FROM monitors WHERE project_id = @projectId)' },
  { table: 'monitors', where: OF_PROJECT },
  { table: 'webhook_deliveries', where: 'webhook IN (SELECT seq FROM webhooks WHERE project_id = @projectId)' },
  { table: 'webhooks', where: OF_PROJECT },
  { table: 'comments', where: OF_PROJECT },
  { table: 'share_links', where: OF_PROJECT },
  { table: 'share_settings', where: OF_PROJECT, key: 'project_id' },
  { table: 'saved_views', where: OF_PROJECT },
  { table: 'dashboards', where: OF_PROJECT, atOnce: 50 },
  { table: 'masking_rules', where: OF_PROJECT, key: 'project_id' },
  { table: 'model_budgets', where: OF_PROJECT, key: 'project_id' },
  { table: 'audit', where: OF_PROJECT, key: 'seq' },
  { table: 'api_keys', where: OF_PROJECT, atOnce: KEYS_AT_ONCE },
  { table: 'members', where: OF_PROJECT, key: '(project_id, user_id)' },
];

/** Forgets who came by links, but for the project: links, which go later, may name them as their makers. */
function guestRemoval(db: Database, portion: string): (values: object) => number {
  const note = db.prepare<object>(notePeople(`SELECT user_id AS id FROM feedback_guests WHERE ${portion}`));
  const remove = db.prepare<object>(`DELETE FROM feedback_guests WHERE ${portion}`);
  return (values) => {
    note.run(values);
    return remove.run(values).changes;
  };
}

function plainRemoval(db: Database, table: string, where: string): (values: object) => number {
  const remove = db.prepare<object>(`DELETE FROM ${table} WHERE ${where}`);
  return (values) => remove.run(values).changes;
}

/**
 * Removes a project's rows, a portion with each call, inside a transaction of the caller's: last of all the project itself
 * and its deletions. Answers whether there may be more.
 */
export function projectRemoval(db: Database): (projectId: string) => boolean {
  const removals = REMOVALS.map(({ table, where, key = 'rowid', atOnce = AT_ONCE, by }) => {
    const chosen = key.replace(/[()]/g, '');
    const portion = `${key} IN (SELECT ${chosen} FROM ${table} WHERE ${where} LIMIT ${atOnce})`;
    return by === undefined ? plainRemoval(db, table, portion) : by(db, portion);
  });
  const people = db
    .prepare<{ projectId: string }, string>(
      `SELECT user_id FROM imported_people WHERE ${OF_PROJECT} LIMIT ${USERS_AT_ONCE}`,
    )
    .pluck();
  const forgetPeople = db.prepare<[string]>(
    'DELETE FROM imported_people WHERE user_id IN (SELECT value FROM json_each(?))',
  );
  const removeUsers = userRemoval(db);
  // The position of the judges' feed, and what calls cost, may be written until the project is gone.
  const last = ['judge_feed_projects', 'model_spending', 'deletions'].map((table) =>
    db.prepare<{ projectId: string }>(`DELETE FROM ${table} WHERE ${OF_PROJECT}`),
  );
  const project = db.prepare<{ projectId: string }>('DELETE FROM projects WHERE id = @projectId');

  return (projectId) => {
    for (const remove of removals) if (remove({ projectId }) > 0) return true;
    const users = people.all({ projectId });
    if (users.length > 0) {
      forgetPeople.run(JSON.stringify(users));
      removeUsers(users);
      return true;
    }
    for (const statement of last) statement.run({ projectId });
    project.run({ projectId });
    return false;
  };
}
