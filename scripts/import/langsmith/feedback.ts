import { DomainError } from '../../../src/engine/errors.js';
import type { ScoreKind } from '../../../src/engine/traces/model/score/score.js';
import { feedbackInput, scoreOf, type FeedbackInput } from '../../../src/langsmith/feedback/feedback.js';
import { RefusedError, Remote } from '../../transfer/remote.js';
import { ImportError } from '../import-error.js';
import { membersIn, textOf, type Members } from '../members.js';
import { ScoreBatch, type DatedScore } from '../score-batch.js';
import type { NotTaken, Step } from '../step.js';

const PATIENCE_MS = 900_000;
/** Runs of one request, which are in its URL, and feedback of one answer, as clients of LangSmith ask. */
const RUNS = 50;
const PAGE = 100;

/** Reads what people and programs say of runs from the API of LangSmith, as its clients do. */
export class FeedbackReader {
  readonly #remote: Remote;

  private constructor(remote: Remote) {
    this.#remote = remote;
  }

  /** @throws ImportError when the key is refused */
  static async open(url: string, key: string): Promise<FeedbackReader> {
    const credentials = { 'x-api-key': key };
    const reader = new FeedbackReader(new Remote(url, '', PATIENCE_MS, { credentials, option: '--source-url' }));
    try {
      await reader.#page([], 0, 1);
    } catch (error) {
      if (error instanceof RefusedError && [401, 403].includes(error.status))
        throw new ImportError('LangSmith rejected the key: give one with --source-key');
      throw error;
    }
    return reader;
  }

  /** The feedback about some runs, as scores. */
  async *about(runs: readonly string[], project: string): AsyncGenerator<Step> {
    const scores = new ScoreBatch(project);
    for (let from = 0; from < runs.length; from += RUNS) {
      const asked = runs.slice(from, from + RUNS);
      for (let offset = 0, read = PAGE; read === PAGE; offset += PAGE) {
        const page = await this.#page(asked, offset, PAGE);
        read = page.length;
        for (const feedback of page) yield* scores.add(datedScoreOf(project, feedback));
      }
    }
    yield* scores.steps();
  }

  async #page(runs: readonly string[], offset: number, limit: number): Promise<readonly Members[]> {
    const query = new URLSearchParams({ limit: String(limit), offset: String(offset) });
    for (const run of runs) query.append('run', run);
    return membersIn(await this.#remote.get<unknown>(`/feedback?${query.toString()}`));
  }
}

/** Feedback as the calls of LangSmith's clients make a score of it, or why there is none. */
function datedScoreOf(project: string, feedback: Members): DatedScore | NotTaken {
  const { id, run_id, trace_id, key, score, value, comment, correction, feedback_source, extra } = feedback;
  const input = { id, run_id, trace_id, key, score, value, comment, correction, feedback_source, extra };
  const what = `feedback ${textOf(id) ?? ''} ${textOf(key) ?? ''}`;
  const at = textOf(feedback['modified_at']) ?? textOf(feedback['created_at']);
  if (at === null) return { what, why: 'it has no time' };
  const [issue] = feedbackInput.issues(input, '', 1);
  if (issue !== undefined) return { what, why: `${issue.pointer} ${issue.detail}` };
  try {
    const { author = null, source = null, ...said } = scoreOf(project, input as FeedbackInput);
    return { what, at, score: said, kind: kindOf(said.value), author, source: source ?? 'sdk' };
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'invalid') throw error;
    return { what, why: error.issues.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ') };
  }
}

function kindOf(value: unknown): ScoreKind {
  if (typeof value === 'string') return 'categorical';
  return typeof value === 'boolean' ? 'boolean' : 'numeric';
}
