import type { Window } from '../../engine/schema/page.js';
import type { Micros } from '../../engine/timestamp.js';
import type { Condition, MonitorState, Standing } from './condition.js';

/** A condition that is checked all the time. */
export interface Monitor extends Standing {
  /** Lower-case UUID. */
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
  readonly condition: Condition;
  /** Grows when the condition changes. */
  readonly revision: number;
  readonly enabled: boolean;
  /** Until then, no destination is notified; null: it is not muted. */
  readonly muted_until: Micros | null;
  /** The state that destinations were notified of last. */
  readonly told: 'ok' | 'firing';
  /** Since when it has its state. */
  readonly since: Micros;
  readonly created_at: Micros;
  readonly created_by: string;
}

/** A change of a monitor's state. */
export interface StateChange {
  readonly at: Micros;
  readonly state: MonitorState;
  readonly value: number | null;
  readonly count: number;
}

/** What can be changed of a monitor; a changed condition begins without a state. */
export type MonitorSettings = Pick<Monitor, 'name' | 'condition' | 'enabled' | 'muted_until'>;

/** The result of a check. */
export interface Outcome extends Standing, StateChange {
  /** Of the condition that was checked. */
  readonly revision: number;
  readonly told: 'ok' | 'firing';
}

/** Maximum number of state changes kept for a monitor. */
export const MAX_CHANGES = 500;

/** Keeps monitors. Each call is one durable transaction. @throws DomainError `unavailable` */
export interface MonitorStore {
  /** @returns false, and nothing is stored, when the project has so many */
  insert(monitor: Monitor, most: number): boolean;
  find(projectId: string, id: string): Monitor | undefined;
  /** In the order in which they were made. */
  list(projectId: string): Monitor[];
  change(id: string, settings: MonitorSettings, isNewCondition: boolean, at: Micros): void;
  remove(id: string): void;
  /** Projects with an enabled monitor. */
  projects(): string[];
  /** The enabled monitors of a project. */
  enabled(projectId: string): Monitor[];
  /** Stores what a check changed. @returns false when the monitor was deleted or changed meanwhile */
  record(monitor: Pick<Monitor, 'id' | 'muted_until'>, outcome: Outcome): boolean;
  /** The newest first. */
  changes(id: string, window: Window): StateChange[];
}

/** Counts of evaluations or feedback, which are stored beside spans. */
export interface SlotCounts {
  readonly count: number;
  readonly yes: number;
}

export interface CountedOpinions {
  /**
   * Evaluations by a judge, and those that passed, by the number of the slot that they were stored in. Slots without any are left
   * out.
   */
  verdicts(judgeId: string, slots: Slots): Map<number, SlotCounts>;
  /** Feedback on spans, and what of it is positive. */
  feedback(projectId: string, slots: Slots): Map<number, SlotCounts>;
  hasJudge(projectId: string, judgeId: string): boolean;
}

/** Stretches of time that lie next to each other, numbered from 0 on. */
export interface Slots {
  /** When the first begins; what happened at this moment is not in it. */
  readonly after: Micros;
  readonly length: Micros;
  readonly count: number;
}
