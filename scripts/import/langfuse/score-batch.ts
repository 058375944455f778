import { scoreOf } from '../../../src/langfuse/scores.js';
import { textOf } from '../members.js';
import type { SentItem, Step } from '../step.js';
import type { Thing } from './shapes.js';

const MAX_SCORES = 500;

const KINDS: Readonly<Record<string, string>> = {
  NUMERIC: 'numeric',
  BOOLEAN: 'boolean',
  CATEGORICAL: 'categorical',
  TEXT: 'text',
  CORRECTION: 'text',
};
const SOURCES: Readonly<Record<string, string>> = { API: 'sdk', EVAL: 'judge', ANNOTATION: 'human' };

/** Scores that are sent together, with their times; what values those of a name have is said before. */
export class ScoreBatch {
  readonly #projectId: string;
  readonly #defined = new Set<string>();
  #definitions: SentItem[] = [];
  #scores: SentItem[] = [];

  constructor(projectId: string) {
    this.#projectId = projectId;
  }

  *add(score: Thing): Iterable<Step> {
    const what = `score ${textOf(score['id']) ?? ''} ${textOf(score['name']) ?? ''}`;
    const dataType = textOf(score['dataType'])?.toUpperCase() ?? 'NUMERIC';
    const value = ['NUMERIC', 'BOOLEAN'].includes(dataType)
      ? (score['value'] ?? score['stringValue'])
      : (score['stringValue'] ?? score['value']);
    const { traceId, observationId, sessionId, name, comment, metadata } = score;
    const body = { traceId, observationId, sessionId, name, value, dataType, comment, metadata };
    const own = scoreOf(this.#projectId, body);
    const at = textOf(score['timestamp']) ?? textOf(score['updatedAt']) ?? textOf(score['createdAt']);
    if (typeof own === 'string' || at === null) {
      const run = textOf(score['datasetRunId']);
      const why =
        typeof own === 'string'
          ? run === null
            ? own
            : 'scores of runs of datasets are not imported'
          : 'it has no time';
      yield { type: 'left', left: { what, why } };
      return;
    }
    this.#define(own.name, KINDS[dataType] ?? 'numeric', at);
    const source = SOURCES[textOf(score['source']) ?? ''] ?? 'sdk';
    const author = textOf(score['authorUserId']);
    const record = { ...own, source, created_at: at, ...(author !== null && { author }) };
    this.#scores.push({ value: record, name: what, tally: { scores: 1 } });
    if (this.#scores.length >= MAX_SCORES) yield* this.steps();
  }

  /** What waits. */
  *steps(): Iterable<Step> {
    const at = `/projects/${this.#projectId}/import`;
    for (const [part, items, alone] of [
      ['score_definitions', this.#definitions, true],
      ['scores', this.#scores, false],
    ] as const)
      if (items.length > 0) yield { type: 'request', request: { path: `${at}/${part}`, items, alone } };
    [this.#definitions, this.#scores] = [[], []];
  }

  #define(name: string, kind: string, at: string): void {
    if (this.#defined.has(name)) return;
    this.#defined.add(name);
    const value = {
      ...{ name, kind, min: null, max: null, categories: null, direction: null, description: null },
      ...{ created_at: at, updated_at: at },
    };
    this.#definitions.push({ value, name: `what scores ${name} are`, tally: {} });
  }
}
