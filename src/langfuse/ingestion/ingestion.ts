import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../engine/errors.js';
import type { Principal } from '../../engine/identity/identity.js';
import { lacks } from '../../engine/identity/scopes.js';
import { assertValid } from '../../engine/validation/validation.js';
import type { ScorerService } from '../../features/experiments/scorer-service.js';
import type { ScoreService } from '../../features/scores/score-service.js';
import { MAX_SCORES } from '../../features/scores/schema.js';
import type { PartialIngest } from '../../features/traces/partial-ingest.js';
import type { MappingLimits } from '../../otlp/span.js';
import { runScoreOf, scoreOf } from '../scores.js';
import { batch } from './event-schema.js';
import { readEvents, type ReadEvent } from './read-events.js';

export interface IngestionParts {
  readonly partial: Pick<PartialIngest, 'store'>;
  readonly scores: Pick<ScoreService, 'postEach'>;
  readonly scorers: Pick<ScorerService, 'keep'>;
  readonly limits: MappingLimits;
}

/** What became of each event. */
export interface Ingested {
  readonly successes: { readonly id: string; readonly status: number }[];
  readonly errors: { readonly id: string; readonly status: number; readonly message: string; readonly error: string }[];
}

/**
 * Stores the events of a batch. A client sends all of it again where one is refused: what was stored stays as it is.
 * @throws DomainError `invalid` when it is no batch; those of WriteLog
 */
export async function ingest(
  by: Principal,
  body: unknown,
  { partial, scores, scorers, limits }: IngestionParts,
): Promise<Ingested> {
  const { project_id: projectId } = by;
  const events = await readEvents(projectId, assertValid(batch, body).batch, limits);
  const why = events.map((event) => (event.kind === 'refused' ? event.why : null));
  const places = (kind: ReadEvent['kind']) => events.flatMap((event, index) => (event.kind === kind ? [index] : []));
  const parts = places('part');
  const said = parts.flatMap((index) => {
    const event = events[index];
    return event?.kind === 'part' ? [event.part] : [];
  });
  if (said.length > 0)
    for (const [at, refused] of (await partial.store(projectId, 'langfuse', said)).entries())
      why[parts[at] as number] = refused;
  await storeScores(by, { scores, scorers }, events, why);
  const ingested: Ingested = { successes: [], errors: [] };
  for (const [index, { id }] of events.entries()) {
    const message = why[index] ?? null;
    if (message === null) ingested.successes.push({ id, status: 201 });
    else ingested.errors.push({ id, status: 400, message, error: 'Invalid request data' });
  }
  return ingested;
}

/** Stores the scores of a batch; those that break a rule are refused alone. @param why takes which rule */
async function storeScores(
  by: Principal,
  { scores, scorers }: Pick<IngestionParts, 'scores' | 'scorers'>,
  events: readonly ReadEvent[],
  why: (string | null)[],
): Promise<void> {
  const read: { readonly index: number; readonly score: object }[] = [];
  for (const [index, event] of events.entries()) {
    if (event.kind !== 'score') continue;
    if (!by.scopes.has('scores:write')) {
      why[index] = lacks(['scores:write']);
      continue;
    }
    const ofRun = runScoreOf(event.body);
    if (ofRun !== null && typeof ofRun !== 'string') {
      why[index] = refusedRun(() => scorers.keep(by.project_id, ofRun.experimentId, ofRun.metric));
      continue;
    }
    const score = ofRun ?? scoreOf(by.project_id, event.body);
    if (typeof score === 'string') why[index] = score;
    else read.push({ index, score });
  }
  for (let from = 0; from < read.length; from += MAX_SCORES) {
    await nextTurn();
    const portion = read.slice(from, from + MAX_SCORES);
    const refused = await scores.postEach(
      by,
      portion.map(({ score }) => score),
    );
    for (const [at, { index }] of portion.entries()) why[index] = refused[at] ?? null;
  }
}

/** Why a figure of a run is refused; null: it is stored. */
function refusedRun(keep: () => unknown): string | null {
  try {
    keep();
    return null;
  } catch (error) {
    if (!(error instanceof DomainError) || !REFUSALS.has(error.kind)) throw error;
    return error.message;
  }
}

const REFUSALS: ReadonlySet<string> = new Set(['invalid', 'not_found', 'conflict']);
