import { randomUUID } from 'node:crypto';
import { DomainError } from '../../../errors.js';
import { uuidOf } from '../../../schema/ids.js';
import {
  normalizeCost,
  normalizeTags,
  normalizeText,
  optionalText,
  positiveZero,
  type Normalizer,
} from '../../../schema/normalize.js';
import type { SessionInput, TraceInput } from './schema.js';
import type { SpanStatus } from '../span/span.js';
import type { Tags } from '../../../schema/tags.js';
import type { Micros } from '../../../timestamp.js';

/** A trace as a client posted it. Replaces what was posted before, and wins over the fields of spans. */
export interface PostedTrace {
  readonly id: string;
  readonly session_id: string;
  readonly name: string;
  readonly status: SpanStatus | null;
  readonly started_at: Micros;
  readonly ended_at: Micros | null;
  readonly duration_ms: number | null;
  readonly cost: number | null;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly tags: Tags;
}

/** A session as a client posted it. */
export interface PostedSession {
  readonly id: string;
  readonly name: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly tags: Tags;
}

export function normalizeTrace(input: TraceInput, normalizer: Normalizer): PostedTrace {
  const startedAt = normalizer.time('started_at', input.started_at);
  const endedAt = normalizer.optionalTime('ended_at', input.ended_at);
  normalizer.order(startedAt, endedAt);
  return {
    id: normalizer.optionalId('id', input.id) ?? randomUUID(),
    session_id: normalizer.id('session_id', input.session_id),
    name: normalizeText(input.name),
    status: input.status ?? null,
    started_at: startedAt,
    ended_at: endedAt,
    duration_ms: input.duration_ms == null ? null : positiveZero(input.duration_ms),
    cost: input.cost == null ? null : normalizeCost(input.cost),
    attributes: input.attributes ?? {},
    tags: normalizeTags(input.tags),
  };
}

/**
 * Refuses sessions of another project before anything else is checked, so that no issue tells about them.
 * @throws DomainError `forbidden` when a session is to be another project's.
 */
export function requireOwnSessions(body: unknown, projectId: string): void {
  if (!Array.isArray(body)) return;
  for (const element of body as unknown[]) {
    const named = (element as { project_id?: unknown } | null)?.project_id;
    if (typeof named === 'string' && uuidOf(named) !== projectId)
      throw new DomainError('forbidden', "project_id must be the API key's project.");
  }
}

export function normalizeSession(input: SessionInput, normalizer: Normalizer): PostedSession {
  return {
    id: normalizer.optionalId('id', input.id) ?? randomUUID(),
    name: optionalText(input.name),
    attributes: input.attributes ?? {},
    tags: normalizeTags(input.tags),
  };
}
