import { randomUUID } from 'node:crypto';
import { DomainError, type Issue } from '../../engine/errors.js';
import { changesBetween, type AuditLog } from '../../engine/identity/audit.js';
import type { AuditChange, AuditEvent } from '../../engine/signals/catalog/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { StoredVersion, VersionDraft } from '../prompts/prompt.js';
import { hashOf } from '../prompts/version-rules.js';
import type { PromptService } from '../prompts/prompt-service.js';
import type { PromptStore } from '../prompts/prompt-store.js';
import { RUNNING_TAG } from '../prompts/running-version.js';
import { MAX_CONTENT_BYTES } from '../prompts/schema.js';
import { fitting, type Fitting } from '../../engine/validation/fitting.js';
import { compileClosed } from '../../engine/validation/validation.js';
import { instructionOf } from './instruction.js';
import type { CheckedJudge, Judge, NotRunnableReason } from './judge.js';
import { settingIssues, settingsOf, taskSlugs, type Stated } from './judge-rules.js';
import type { JudgeStore } from './judge-store.js';
import type { Window } from '../../engine/schema/page.js';
import { formatTimestamp } from '../../engine/timestamp.js';
import type { KeyRefusal, ModelClient } from '../../engine/models/model-client.js';
import { JudgeInput, JudgePatch } from './schema.js';
import { quietOf } from './whole-settings.js';
import type { Arrivals } from '../../engine/traces/model/judged/span-reader.js';

export interface JudgeServiceOptions {
  readonly store: JudgeStore;
  readonly prompts: Pick<PromptStore, 'hasPrompt' | 'findVersion'>;
  /** Makes versions of prompts that exist. */
  readonly versions: Pick<PromptService, 'ensure'>;
  readonly arrivals: Pick<Arrivals, 'now'>;
  /** The model endpoint; null: none is configured. */
  readonly model: Pick<ModelClient, 'defaultModel' | 'refusedKey'> | null;
  /** Why calls of a project have to wait, in a sentence; null: they do not. */
  readonly waitingReason: (projectId: string) => string | null;
  /** Called after judges changed. */
  readonly onChange: () => void;
  readonly audit: AuditLog;
}

type Settings = ReturnType<typeof settingsOf>;

const checkInput = compileClosed(JudgeInput);
const checkPatch = compileClosed(JudgePatch);

const NO_ENDPOINT: NotRunnableReason = {
  kind: 'no_endpoint',
  text: 'No model endpoint is configured (JUDGE_LLM_BASE_URL)',
};
const NO_MODEL: NotRunnableReason = {
  kind: 'no_model',
  text: 'No model is set: set it for the judge, for its prompt version, or as JUDGE_LLM_MODEL',
};

function keyRefused({ status, since }: KeyRefusal): NotRunnableReason {
  const endpoint = `The model endpoint rejected this server's key (${status})`;
  return { kind: 'key_refused', text: `${endpoint}, set by JUDGE_LLM_API_KEY, since ${formatTimestamp(since)}` };
}

/** Judges: how they are made, changed and read. Everything is inside the caller's project. */
export class JudgeService {
  readonly #options: JudgeServiceOptions;

  constructor(options: JudgeServiceOptions) {
    this.#options = options;
  }

  /**
   * Makes a judge and, with `prompt`, the prompt that holds its instruction.
   * @throws DomainError `invalid` with every broken rule; nothing is made then
   */
  create(principal: Principal, body: unknown): CheckedJudge {
    const stated = fitting(checkInput, body);
    const judge = this.draft(principal, stated);
    const { prompt } = stated.values;
    const task = prompt == null ? null : { slugs: taskSlugs(judge.name), version: this.#version(principal, prompt) };
    const { store, audit } = this.#options;
    const stored = audit.together(() => {
      this.#tell('judgeMade', judge, principal);
      return store.insert(judge, task);
    });
    this.#options.onChange();
    return this.#checked(stored);
  }

  /** The judge that was stated, which is not stored. @throws DomainError `invalid` as `create` does */
  draft({ project_id, user_id }: Principal, stated: Fitting<JudgeInput>): Judge {
    const settings = settingsOf(stated.values, null);
    stated.require([...this.#taskIssues(project_id, stated, true), ...settingIssues(settings, null, stated.isMisfit)]);
    const now = Date.now() * 1000;
    return {
      ...settings,
      id: randomUUID(),
      project_id,
      judged_since: this.#options.arrivals.now(),
      created_at: now,
      created_by: user_id,
      updated_at: now,
      deleted_at: null,
    };
  }

  /** @throws DomainError `invalid`, `not_found`, `conflict`; nothing is changed then */
  update(principal: Principal, id: string, body: unknown): CheckedJudge {
    const { store, versions, arrivals } = this.#options;
    const before = this.require(principal.project_id, id);
    const stated = fitting(checkPatch, body);
    const settings = settingsOf(stated.values, before);
    stated.require([
      ...this.#taskIssues(principal.project_id, stated, false),
      ...settingIssues(settings, before, stated.isMisfit),
    ]);
    const { prompt } = stated.values;
    const woken = settings.enabled && !before.enabled;
    const changed: Judge = {
      ...before,
      ...settings,
      judged_since: woken ? arrivals.now() : before.judged_since,
      updated_at: Date.now() * 1000,
    };
    // A shorter wait holds for what waits, too: a longer one is noticed when it is due.
    const dueBy = quietOf(settings) < quietOf(before) ? changed.updated_at + quietOf(settings) : null;
    const changes = [
      ...changesBetween<Settings>(before, changed, Object.keys(settings) as (keyof Settings)[]),
      ...(prompt == null ? [] : [{ field: 'prompt' }]),
    ];
    this.#options.audit.together(() => {
      if (prompt != null) requireLatest(versions.ensure(principal, settings.task_slug, { content: prompt }));
      if (!store.update(changed, !settings.enabled, dueBy)) throw missing();
      this.#tell('judgeChanged', changed, principal, changes);
    });
    this.#options.onChange();
    return this.#checked(changed);
  }

  /** Deletes a judge and its queued runs; its evaluations stay. @throws DomainError `not_found` */
  remove(principal: Principal, id: string): void {
    const { store, audit } = this.#options;
    const judge = this.require(principal.project_id, id);
    audit.together(() => {
      if (!store.remove(principal.project_id, judge.id, Date.now() * 1000)) throw missing();
      this.#tell('judgeDeleted', judge, principal);
    });
    this.#options.onChange();
  }

  /** @throws DomainError `not_found` */
  get(projectId: string, id: string): CheckedJudge {
    return this.#checked(this.require(projectId, id));
  }

  /** Oldest first. */
  list(projectId: string, window: Window): CheckedJudge[] {
    return this.#options.store.list(projectId, window).map((judge) => this.#checked(judge));
  }

  count(projectId: string): number {
    return this.#options.store.count(projectId);
  }

  /** A judge that exists. @throws DomainError `not_found`, also when it is deleted */
  require(projectId: string, id: string): Judge {
    const judge = this.requireEver(projectId, id);
    if (judge.deleted_at !== null) throw missing();
    return judge;
  }

  /** A judge, also a deleted one. @throws DomainError `not_found` */
  requireEver(projectId: string, id: string): Judge {
    const judge = this.#options.store.find(projectId, id);
    if (judge === undefined) throw missing();
    return judge;
  }

  /** Why the judge cannot run, with its own instruction or another; null when it can. */
  notRunnableReason(judge: Judge, instruction = instructionOf(this.#options.prompts, judge)): NotRunnableReason | null {
    const { model, waitingReason } = this.#options;
    if (model === null) return NO_ENDPOINT;
    if (instruction === undefined) return { kind: 'no_prompt', text: `There is no prompt ${judge.task_slug}` };
    const named = judge.model ?? instruction.model_id ?? model.defaultModel;
    if (named === null) return NO_MODEL;
    const refusal = model.refusedKey(judge.project_id, named);
    if (refusal !== null) return keyRefused(refusal);
    const waits = waitingReason(judge.project_id);
    return waits === null ? null : { kind: 'budget_spent', text: waits };
  }

  #tell(event: AuditEvent, { id, name }: Judge, by: Principal, changes: readonly AuditChange[] = []): void {
    const about = { project_id: by.project_id, subject_id: id, subject_name: name };
    this.#options.audit.done({ event, by, ...about, changes });
  }

  #taskIssues(projectId: string, { values, isMisfit }: Fitting<Stated>, isNew: boolean): Issue[] {
    const { prompt, task_slug } = values;
    const issues: Issue[] = [];
    if (isNew && prompt == null && task_slug == null && !isMisfit('task_slug'))
      issues.push({ pointer: '/prompt', detail: 'is required, unless task_slug names an existing prompt' });
    if (isNew && prompt != null && task_slug != null)
      issues.push({ pointer: '/task_slug', detail: 'must not be combined with prompt' });
    if (task_slug != null && !this.#options.prompts.hasPrompt(projectId, task_slug))
      issues.push({ pointer: '/task_slug', detail: 'there is no prompt with this slug' });
    if (prompt != null && !prompt.isWellFormed())
      issues.push({ pointer: '/prompt', detail: 'must not contain an unpaired surrogate' });
    else if (prompt != null && Buffer.byteLength(prompt) > MAX_CONTENT_BYTES)
      issues.push({ pointer: '/prompt', detail: `must be at most ${MAX_CONTENT_BYTES} bytes` });
    return issues;
  }

  #version({ user_id }: Principal, content: string): VersionDraft {
    const text = { content, messages: null, config: {}, content_hash: hashOf(content) };
    return { ...text, model_id: null, metadata: {}, created_by: user_id, created_at: Date.now() * 1000 };
  }

  #checked(judge: Judge): CheckedJudge {
    return { ...judge, not_runnable_reason: this.notRunnableReason(judge) };
  }
}

/** A text that is there already does not become the latest again. */
function requireLatest({ latest_version, version }: Pick<StoredVersion, 'latest_version' | 'version'>): void {
  if (version === latest_version) return;
  const detail = `The prompt already has this text as version ${version}. Pin the tag ${RUNNING_TAG} to that version to run it`;
  throw new DomainError('conflict', detail);
}

function missing(): DomainError {
  return new DomainError('not_found', 'There is no judge with this id');
}
