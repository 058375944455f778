import { randomUUID } from 'node:crypto';
import { DomainError, type Issue } from '../../engine/errors.js';
import { changesBetween, type AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { Window } from '../../engine/schema/page.js';
import { formatOptionalTimestamp, parseTimestamp, type Micros } from '../../engine/timestamp.js';
import { boundsStarts } from '../../engine/traces/model/list/statistics.js';
import { invalid } from '../../engine/validation/validation.js';
import { FairSemaphore } from '../../engine/work/fair-semaphore.js';
import { BESIDE_SPANS, OF_NOTHING, UNKNOWN, type Condition } from './condition.js';
import { lookBack, type LookBack } from './look-back.js';
import type { Measurer, MeasurerParts } from './measurer.js';
import type { CountedOpinions, Monitor, MonitorSettings, MonitorStore, StateChange } from './monitor.js';
import type { LastLook, MonitorLoop } from './monitor-loop.js';
import { MAX_MONITORS, type ConditionInput, type MonitorInput, type MonitorPatch } from './schema.js';

export interface MonitorServiceParts {
  readonly store: MonitorStore;
  readonly opinions: Pick<CountedOpinions, 'hasJudge'>;
  readonly parse: MeasurerParts['parse'];
  readonly measurer: Measurer;
  readonly loop: Pick<MonitorLoop, 'changed' | 'lastOf'>;
  readonly audit: AuditLog;
}

/** A monitor with its last check. */
export interface LookedAt extends Monitor {
  readonly last: LastLook | null;
}

/** Tests read 30 days: one at a time for a project, two in all. */
const LOOK_BACKS = { atOnce: 2, perParty: 1, maxWaiting: 8, maxWaitMs: 30_000 };

/** Monitors: conditions that are checked all the time. Everything is inside the caller's project. */
export class MonitorService {
  readonly #parts: MonitorServiceParts;
  readonly #lookBacks = new FairSemaphore('tests of monitors', LOOK_BACKS);

  constructor(parts: MonitorServiceParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `invalid`; `conflict` with too many */
  create(by: Principal, { name, enabled, muted_until, ...input }: MonitorInput): LookedAt {
    const { store, loop, audit } = this.#parts;
    const { project_id, user_id } = by;
    const now = Date.now() * 1000;
    const monitor: Monitor = {
      ...{ id: randomUUID(), project_id, name, condition: this.#condition(project_id, input, ''), revision: 1 },
      ...{ enabled: enabled ?? true, muted_until: mutedUntil(muted_until ?? null), ...UNKNOWN, told: 'ok' },
      ...{ since: now, created_at: now, created_by: user_id },
    };
    audit.together(() => {
      if (!store.insert(monitor, MAX_MONITORS))
        throw new DomainError('conflict', `A project has at most ${MAX_MONITORS} monitors: delete one first`);
      audit.done({ event: 'monitorCreated', by, project_id, subject_id: monitor.id, subject_name: name });
    });
    loop.changed(project_id);
    return { ...monitor, last: null };
  }

  list(projectId: string): LookedAt[] {
    return this.#parts.store.list(projectId).map((monitor) => this.#lookedAt(monitor));
  }

  /** @throws DomainError `not_found` */
  get(projectId: string, id: string): LookedAt {
    const monitor = this.#parts.store.find(projectId, id);
    if (monitor === undefined) throw new DomainError('not_found', 'There is no monitor with this id');
    return this.#lookedAt(monitor);
  }

  /** @throws DomainError `not_found`, `invalid` */
  change(by: Principal, id: string, patch: MonitorPatch): LookedAt {
    const { store, loop, audit } = this.#parts;
    const { project_id } = by;
    const known = this.get(project_id, id);
    const condition =
      patch.condition == null ? known.condition : this.#condition(project_id, patch.condition, '/condition');
    const settings: MonitorSettings = {
      name: patch.name ?? known.name,
      condition,
      enabled: patch.enabled ?? known.enabled,
      muted_until: patch.muted_until === undefined ? known.muted_until : mutedUntil(patch.muted_until),
    };
    const isNew = JSON.stringify(condition) !== JSON.stringify(known.condition);
    const muted = ({ muted_until }: MonitorSettings) => formatOptionalTimestamp(muted_until);
    const changes = changesBetween<MonitorSettings>(known, settings, [
      'name',
      'condition',
      'enabled',
      'muted_until',
    ]).map((change) =>
      change.field === 'muted_until' ? { ...change, from: muted(known), to: muted(settings) } : change,
    );
    audit.together(() => {
      store.change(id, settings, isNew, Date.now() * 1000);
      audit.done({ event: 'monitorChanged', by, project_id, subject_id: id, subject_name: settings.name, changes });
    });
    loop.changed(project_id);
    return this.get(project_id, id);
  }

  /** @throws DomainError `not_found` */
  remove(by: Principal, id: string): void {
    const { store, loop, audit } = this.#parts;
    const { project_id } = by;
    const { name } = this.get(project_id, id);
    audit.together(() => {
      store.remove(id);
      audit.done({ event: 'monitorDeleted', by, project_id, subject_id: id, subject_name: name });
    });
    loop.changed(by.project_id);
  }

  /** Changes of its state, the newest first. @throws DomainError `not_found` */
  changes(projectId: string, id: string, window: Window): StateChange[] {
    return this.#parts.store.changes(this.get(projectId, id).id, window);
  }

  /**
   * What a condition would have done over the last 30 days.
   * @throws DomainError `invalid`, `overloaded`, `unavailable`; the signal's reason
   */
  async test(
    projectId: string,
    input: ConditionInput,
    signal: AbortSignal,
  ): Promise<LookBack & { readonly condition: Condition }> {
    const condition = this.#condition(projectId, input, '');
    const { measurer } = this.#parts;
    const look = () => lookBack(measurer, projectId, condition, Date.now() * 1000, signal);
    return { ...(await this.#lookBacks.run(projectId, look, signal)), condition };
  }

  #lookedAt(monitor: Monitor): LookedAt {
    return { ...monitor, last: this.#parts.loop.lastOf(monitor) };
  }

  /** @param pointer where it stands in the body @throws DomainError `invalid` */
  #condition(projectId: string, input: ConditionInput, pointer: string): Condition {
    const { measure, operator, threshold } = input;
    const condition: Condition = {
      ...{ measure, operator, threshold, window_minutes: input.window_minutes },
      list: input.list ?? 'spans',
      query: input.query ?? '',
      score: input.score ?? null,
      judge_id: input.judge_id?.toLowerCase() ?? null,
      compared_with: input.compared_with ?? 'constant',
      recovery_threshold: input.recovery_threshold ?? threshold,
      minimum_count: input.minimum_count ?? (OF_NOTHING.includes(measure) ? 0 : 1),
    };
    const issues = [...this.#measureIssues(projectId, condition), ...thresholdIssues(condition)];
    if (issues.length > 0)
      throw invalid(issues.map(({ pointer: field, detail }) => ({ pointer: `${pointer}${field}`, detail })));
    this.#requireQuery(condition, pointer);
    return condition;
  }

  #measureIssues(projectId: string, { measure, score, judge_id, query, list }: Condition): Issue[] {
    const only = (field: string, of: string, given: unknown) =>
      (given !== null) === (measure === of)
        ? []
        : [{ pointer: `/${field}`, detail: `must be given with the measure ${of}, and with no other` }];
    const isKnown =
      judge_id === null || measure !== 'judge_pass_rate' || this.#parts.opinions.hasJudge(projectId, judge_id);
    const isFiltered = BESIDE_SPANS.includes(measure) && (query !== '' || list !== 'spans');
    return [
      ...only('score', 'score_mean', score),
      ...only('judge_id', 'judge_pass_rate', judge_id),
      ...(isKnown ? [] : [{ pointer: '/judge_id', detail: 'must be the id of a judge of the project' }]),
      ...(isFiltered
        ? [{ pointer: '/query', detail: `must be absent with the measure ${measure}, and so must list` }]
        : []),
    ];
  }

  #requireQuery({ list, query }: Condition, pointer: string): void {
    const parsed = this.#parts.parse(list, query);
    if (boundsStarts(parsed))
      throw invalid([{ pointer: `${pointer}/query`, detail: 'must not filter by the start: the window does' }]);
  }
}

function thresholdIssues({ operator, threshold, recovery_threshold, measure, compared_with }: Condition): Issue[] {
  const isBeyond = operator === 'above' ? recovery_threshold > threshold : recovery_threshold < threshold;
  const isRatioOfShare = measure === 'judge_pass_rate' && compared_with !== 'constant';
  return [
    ...(isBeyond
      ? [{ pointer: '/recovery_threshold', detail: `must not lie ${operator} the threshold: the monitor would flap` }]
      : []),
    ...(isRatioOfShare
      ? [{ pointer: '/compared_with', detail: 'must be constant with the measure judge_pass_rate' }]
      : []),
  ];
}

/** @throws DomainError `invalid` */
function mutedUntil(time: string | number | null): Micros | null {
  if (time === null) return null;
  const micros = parseTimestamp(time);
  if (micros === undefined)
    throw invalid([{ pointer: '/muted_until', detail: 'must be an ISO 8601 time or a Unix time, from 1970 to 2254' }]);
  return micros;
}
