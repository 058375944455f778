import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FeedbackContent, FeedbackKey, StoredFeedback } from '../../src/features/feedback/feedback.js';
import type { Evaluation } from '../../src/features/judges/evaluation.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { SqliteEvaluationStore } from '../../src/features/judges/store/evaluation-store.js';
import { SqliteFeedbackStore } from '../../src/features/feedback/store/feedback-store.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { SqliteCorrectionStore } from '../../src/features/calibration/store/correction-store.js';
import { PASSED } from '../judges/fixture.js';

/** Monday of ISO week 2026-W01. */
export const MONDAY = Date.UTC(2025, 11, 29) * 1000;
export const JUDGE = 'judge';

/** A project with two users, a prompt and a judge `judge`, as every SQLite file with judges has them. */
export const PROJECT_ROWS = `
  INSERT INTO projects (id, name, created_at) VALUES ('project', 'p', 0);
  INSERT INTO users (id, name, created_at) VALUES ('ann', 'Ann', 0), ('bob', 'Bob', 0);
  INSERT INTO prompts (id, project_id, slug, created_at) VALUES ('prompt', 'project', 'task', 0);
  INSERT INTO prompt_versions (id, prompt_id, version, content_hash, model_id, metadata, created_at, created_by, updated_at, content) VALUES
    ('pv1', 'prompt', 1, '${'a'.repeat(64)}', NULL, '{}', 0, 'ann', 0, 'one'),
    ('pv2', 'prompt', 2, '${'b'.repeat(64)}', NULL, '{}', 0, 'ann', 0, 'two');
  ${judgeRow(JUDGE, 'project')}`;

export function judgeRow(id: string, projectId: string): string {
  return `INSERT INTO judges (id, project_id, name, task_slug, evaluation_type, criteria, sample_rate, filters, enabled,
      judged_since, created_at, created_by, updated_at)
    VALUES ('${id}', '${projectId}', 'j', 'task', 'binary', '[]', 1, '{}', 1, 0, 0, 'ann', 0);`;
}

/** A judge, what it found and what people say of that, in a SQLite file of its own. Every entry is 1 µs after the last. */
export class JudgeFile {
  readonly database: Database;
  readonly feedback: SqliteFeedbackStore;
  readonly evaluations: SqliteEvaluationStore;
  readonly store: SqliteCorrectionStore;
  at = MONDAY;
  readonly #folder = mkdtempSync(join(tmpdir(), 'spanhouse-judge-'));

  constructor() {
    this.database = openDatabase(join(this.#folder, 'test.sqlite'));
    migrate(this.database, readMigrationFiles(schemaDirectory('sqlite')));
    this.database.exec(PROJECT_ROWS);
    this.feedback = new SqliteFeedbackStore(this.database);
    this.evaluations = new SqliteEvaluationStore(this.database);
    this.store = new SqliteCorrectionStore(this.database);
  }

  /** An evaluation by a version such as `pv1/e3`. */
  evaluate(span_id: string, result: boolean, judge_version: string | null, more: Partial<Evaluation> = {}): void {
    this.evaluations.insert({
      id: randomUUID(),
      project_id: 'project',
      judge_id: JUDGE,
      span_id,
      ...PASSED,
      origin: 'requested',
      evaluation_result: result,
      evaluation_reason: 'because',
      prompt_version_id: judge_version?.split('/')[0] ?? null,
      judge_version,
      created_at: (this.at += 1),
      ...more,
    });
  }

  say(
    span_id: string,
    thumbs_up: boolean,
    user_id = 'ann',
    more: Partial<FeedbackContent & FeedbackKey & { at: number; prompt_id: string }> = {},
  ): StoredFeedback {
    return this.feedback.save({
      project_id: 'project',
      prompt_id: 'prompt',
      completion_id: span_id,
      user_id,
      judge_id: JUDGE,
      thumbs_up,
      reason: null,
      expected_output: null,
      expected_score: null,
      score_direction: null,
      criteria_feedback: null,
      metadata: {},
      at: (this.at += 1),
      ...more,
    });
  }

  dispose(): void {
    this.database.close();
    rmSync(this.#folder, { recursive: true });
  }
}
