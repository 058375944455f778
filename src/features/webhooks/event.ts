/** Types of events that destinations may be told of. */
export const EVENT_TYPES = [
  ...(['monitor.fired', 'monitor.recovered', 'prompt.tag_moved'] as const),
  ...(['judge.corrected', 'comparison.failed', 'budget.reached'] as const),
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Something that happened in a project, as it is told. */
export interface WebhookEvent {
  readonly project_id: string;
  readonly type: EventType;
  /** In one line, for people. */
  readonly summary: string;
  /** For programs: ids, names and numbers. */
  readonly data: Readonly<Record<string, string | number | boolean | null>>;
}

/**
 * Notes an event for whoever is to be told of it: inside the transaction of what happened, so that both are stored or neither is.
 * @throws DomainError `unavailable`
 */
export type Announce = (event: WebhookEvent) => void;
