import { Type } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import { changesBetween, type AuditLog } from '../../engine/identity/audit.js';
import { mayRead } from '../../engine/identity/scopes.js';
import type { Identity, Principal } from '../../engine/identity/identity.js';
import type { ScoreQuery, Scores, StoredScore } from '../../engine/traces/model/score/scores.js';
import type { WriteLog } from '../../engine/traces/model/write-log.js';
import { assertValid, compile, invalid } from '../../engine/validation/validation.js';
import { readChoice, scoreOfChoice, type ChoiceRead } from './choice.js';
import type { MaskerOf } from '../masking/maskers.js';
import { maskedScores } from './masked-score.js';
import { refuseNew, type DefinitionStore, type ScoreDefinition } from './definition.js';
import { MAX_DEFINITIONS, type ScoreDefinitionInput } from './schema.js';
import { readEachScore, readScores, readSignals, type ReadContext, type ReadScores } from './score-reader.js';

const signalList = compile(Type.Object({ signals: Type.Array(Type.Unknown()) }));

export interface ScoreServiceParts {
  readonly log: WriteLog;
  readonly scores: Scores;
  readonly definitions: DefinitionStore;
  readonly masker: MaskerOf;
  readonly describe: (principal: Principal) => Pick<Identity, 'user'>;
  readonly audit: AuditLog;
}

/** Scores of spans, traces and sessions, and what their values may be. */
export class ScoreService {
  readonly #parts: ScoreServiceParts;

  constructor(parts: ScoreServiceParts) {
    this.#parts = parts;
  }

  /**
   * Stores a score, or an array of scores, all or none. What one entity, name, source and author had before is replaced.
   * @returns one for each element of the request, in their order
   * @throws DomainError `invalid` with every issue, and nothing stored; those of WriteLog
   */
  post(by: Principal, body: unknown): Promise<StoredScore[]> {
    return this.#store(by, readScores(body, this.#context(by)));
  }

  /**
   * Stores scores that stand or fall alone.
   * @returns for each element why it is refused; null: it is stored
   * @throws those of WriteLog
   */
  async postEach(by: Principal, elements: readonly unknown[]): Promise<(string | null)[]> {
    const { read, defined } = readEachScore(elements, this.#context(by));
    await this.#store(by, { scores: read.filter((score) => typeof score !== 'string'), defined });
    return read.map((score) => (typeof score === 'string' ? score : null));
  }

  /** Stores one signal of an SDK as a score. @throws as {@link post} */
  postSignal(by: Principal, body: unknown): Promise<StoredScore[]> {
    if (Array.isArray(body)) throw invalid([{ pointer: '', detail: 'must be an object' }]);
    return this.#store(by, readSignals(body, '', this.#context(by)));
  }

  /** Stores an array of signals as scores, all or none. @throws as {@link post} */
  postSignals(by: Principal, body: unknown): Promise<StoredScore[]> {
    const { signals } = assertValid(signalList, body);
    return this.#store(by, readSignals(signals, '/signals', this.#context(by)));
  }

  /**
   * Stores the choice of a variant in an A/B test as a score, while the test runs.
   * @throws as {@link post}
   */
  async choose(by: Principal, body: unknown): Promise<ChoiceRead> {
    const choice = readChoice(body);
    const read = scoreOfChoice(choice, this.#context(by));
    if (read === null) {
      const message = `The test ended after ${choice.duration_days} days. The choice was not stored.`;
      return { ab_choice_id: null, test_status: 'completed', message };
    }
    const [score] = await this.#store(by, read);
    return { ab_choice_id: score?.id ?? null, test_status: 'running', message: 'The choice was stored.' };
  }

  /** How the scores of a request are read. */
  #context(by: Principal): ReadContext {
    const { definitions, describe } = this.#parts;
    const { project_id: projectId } = by;
    return {
      projectId,
      mayRead: mayRead(by),
      userName: () => describe(by).user.name,
      find: (name) => definitions.find(projectId, name),
      refuseNew: (made) => refuseNew(definitions, projectId, made),
    };
  }

  async #store({ project_id: projectId }: Principal, { scores: sent, defined }: ReadScores): Promise<StoredScore[]> {
    const { log, definitions, masker } = this.#parts;
    if (sent.length === 0) return [];
    const scores = maskedScores(sent, masker(projectId), (name) => definitions.find(projectId, name));
    log.admit(projectId);
    if (defined.length > 0) definitions.put(projectId, defined);
    const { scoredAt = [] } = await log.append({ projectId, scores });
    return scores.map((score, index) => ({ ...score, created_at: scoredAt[index] ?? 0 }));
  }

  list(projectId: string, query: ScoreQuery, signal: AbortSignal) {
    return this.#parts.scores.page(projectId, query, signal);
  }

  /** @throws DomainError `not_found` */
  async get(projectId: string, id: string, signal: AbortSignal): Promise<StoredScore> {
    const found = await this.#parts.scores.find(projectId, id, signal);
    if (found === null) throw noScore();
    return found;
  }

  /** @throws DomainError `not_found`; those of WriteLog */
  async remove(by: Principal, id: string): Promise<void> {
    const { project_id } = by;
    const { scores, audit } = this.#parts;
    if ((await scores.find(project_id, id)) === null) throw noScore();
    // Before it is gone, as with other deletions: nothing is deleted without an entry.
    audit.done({ event: 'scoreDeleted', by, project_id, subject_id: id });
    await scores.remove(project_id, id);
  }

  /** Deletes what someone gave to some spans. @throws those of WriteLog */
  removeOf(...given: Parameters<Scores['removeOf']>): Promise<void> {
    return this.#parts.scores.removeOf(...given);
  }

  definitions(projectId: string): ScoreDefinition[] {
    return this.#parts.definitions.list(projectId);
  }

  /** @throws DomainError `not_found` */
  definition(projectId: string, name: string): ScoreDefinition {
    const found = this.#parts.definitions.find(projectId, name);
    if (found === undefined) throw noDefinition();
    return found;
  }

  /**
   * Sets what the values of a name may be; stored scores stay as they are.
   * @throws DomainError `invalid`; `conflict` for another kind while there are scores, or with too many definitions
   */
  async define(
    by: Principal,
    name: string,
    input: ScoreDefinitionInput,
  ): Promise<{ readonly definition: ScoreDefinition; readonly created: boolean }> {
    const issues = definitionIssues(input);
    if (issues.length > 0) throw invalid(issues);
    const { definitions, scores, audit } = this.#parts;
    const { project_id: projectId } = by;
    const known = definitions.find(projectId, name);
    if (known === undefined && definitions.count(projectId) >= MAX_DEFINITIONS)
      throw new DomainError('conflict', `A project has at most ${MAX_DEFINITIONS} score definitions: delete one first`);
    if (known !== undefined && known.kind !== input.kind && (await scores.countNamed(projectId, name)) > 0)
      throw new DomainError(
        'conflict',
        `The scores named ${JSON.stringify(name)} are ${known.kind}: delete them first, or use another name`,
      );
    // Another request may have defined it meanwhile, and brought scores by that.
    const { kind, updated_at } = definitions.find(projectId, name) ?? {};
    if (kind !== known?.kind || updated_at !== known?.updated_at) return this.define(by, name, input);
    const now = Date.now() * 1000;
    const { min = null, max = null, categories = null, direction = null, description = null } = input;
    const definition = {
      ...{ name, kind: input.kind, min, max, categories, direction, description },
      created_at: known?.created_at ?? now,
      updated_at: now,
    };
    audit.together(() => {
      definitions.put(projectId, [definition]);
      const changes = known === undefined ? [] : changesBetween<ScoreDefinition>(known, definition, DEFINED);
      audit.done({ event: 'scoreDefinitionSet', by, project_id: projectId, subject_name: name, changes });
    });
    return { definition, created: known === undefined };
  }

  /** @throws DomainError `not_found`; `conflict` while there are scores of the name */
  async removeDefinition(by: Principal, name: string): Promise<void> {
    const { definitions, scores, audit } = this.#parts;
    const { project_id: projectId } = by;
    this.definition(projectId, name);
    const count = await scores.countNamed(projectId, name);
    if (count > 0)
      throw new DomainError('conflict', `${count} scores are named ${JSON.stringify(name)}: delete them first`);
    audit.together(() => {
      if (!definitions.remove(projectId, name)) throw noDefinition();
      audit.done({ event: 'scoreDefinitionDeleted', by, project_id: projectId, subject_name: name });
    });
  }
}

const DEFINED = ['kind', 'min', 'max', 'categories', 'direction', 'description'] as const;

function definitionIssues({ kind, min, max, categories }: ScoreDefinitionInput) {
  const isNumeric = kind === 'numeric';
  return [
    ...(min != null && !isNumeric ? [{ pointer: '/min', detail: `is for numeric scores, not for ${kind} ones` }] : []),
    ...(max != null && !isNumeric ? [{ pointer: '/max', detail: `is for numeric scores, not for ${kind} ones` }] : []),
    ...(min != null && max != null && min > max ? [{ pointer: '/max', detail: 'must not be below min' }] : []),
    ...(categories != null && kind !== 'categorical'
      ? [{ pointer: '/categories', detail: `is for categorical scores, not for ${kind} ones` }]
      : []),
  ];
}

const noScore = () => new DomainError('not_found', 'There is no score with this id.');
const noDefinition = () => new DomainError('not_found', 'There is no score definition with this name.');
