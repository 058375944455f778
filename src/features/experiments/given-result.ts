import { DomainError, MAX_ISSUES, type Issue } from '../../engine/errors.js';
import { sortedJson } from '../../engine/json-text.js';
import { NIL_UUID } from '../../engine/schema/ids.js';
import { normalizeText } from '../../engine/schema/normalize.js';
import { formatTimestamp, type Micros } from '../../engine/timestamp.js';
import { resultId } from '../../engine/traces/model/experiment/result-id.js';
import { KEEP_TAG } from '../../engine/traces/model/retention/keep-tag.js';
import type { ScoreValue } from '../../engine/traces/model/score/score.js';
import type { SpanInput } from '../../engine/traces/model/span/schema.js';
import { compileClosed, invalid } from '../../engine/validation/validation.js';
import { MAX_RESULTS_AT_ONCE, type Experiment } from './experiment.js';
import { ResultInput } from './schema.js';

/** A result that was checked. */
export interface GivenResult {
  readonly row_id: string;
  readonly repetition: number;
  readonly output: unknown;
  readonly error: { readonly message: string | null; readonly code: string | null } | null;
  /** The trace in which it was made; null: not said. */
  readonly trace_id: string | null;
  readonly scores: Readonly<Record<string, ScoreValue>>;
  /** How often it was tried; null: not said. */
  readonly attempt: number | null;
  /** When it was made; absent: now. */
  readonly times?: { readonly started_at: Micros; readonly ended_at: Micros };
}

const validator = compileClosed(ResultInput);

type ElementIssue = Issue & { readonly index: number };

/** Checks results by their schema. @throws DomainError `invalid` for too many */
export function readResults(body: unknown): { readonly results: GivenResult[]; readonly issues: ElementIssue[] } {
  const elements: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (elements.length > MAX_RESULTS_AT_ONCE)
    throw invalid([{ pointer: '', detail: `must have at most ${MAX_RESULTS_AT_ONCE} results` }]);
  const issues: ElementIssue[] = [];
  const results = elements.flatMap((element, index) => {
    if (validator.accepts(element)) return [given(element)];
    const found = issues.length >= MAX_ISSUES ? [] : validator.issues(element, '', MAX_ISSUES - issues.length);
    issues.push(...found.map((issue) => ({ ...issue, index })));
    return [];
  });
  // What is wrong with rows is told by places, which are not known with some left out.
  if (issues.length > 0) return { results: [], issues };
  return { results, issues };
}

function given({ row_id, repetition, output_data: output, error, trace_id, scores }: ResultInput): GivenResult {
  return {
    ...{ row_id: normalizeText(row_id), repetition: repetition ?? 1, output: output ?? null, attempt: null },
    ...{ trace_id: trace_id ?? null, scores: scores ?? {} },
    error: error == null ? null : { message: error, code: null },
  };
}

/** What is wrong with results beside their rows. */
export function rowIssues(
  results: readonly GivenResult[],
  { dataset, dataset_version, repetitions }: Experiment,
  rows: ReadonlyMap<string, unknown>,
): ElementIssue[] {
  const seen = new Set<string>();
  return results.flatMap(({ row_id, repetition, trace_id }, index): ElementIssue[] => {
    const key = JSON.stringify([row_id, repetition]);
    const isTwice = seen.has(key);
    seen.add(key);
    return [
      ...(rows.has(row_id)
        ? []
        : [
            {
              index,
              pointer: '/row_id',
              detail: `is no row of version ${dataset_version} of ${JSON.stringify(dataset.name)}`,
            },
          ]),
      ...(repetition <= repetitions
        ? []
        : [
            {
              index,
              pointer: '/repetition',
              detail: `must be at most ${repetitions}, the repetitions of the experiment`,
            },
          ]),
      ...(isTwice
        ? [{ index, pointer: '/row_id', detail: 'has another result of the same repetition in this request' }]
        : []),
      ...(trace_id === NIL_UUID ? [{ index, pointer: '/trace_id', detail: 'must not be the nil UUID' }] : []),
    ];
  });
}

/** The span that stores a result. @throws DomainError `too_large` */
export function spanOf({ id, name }: Experiment, result: GivenResult, row: string | null): SpanInput {
  const { row_id, repetition, error, trace_id, attempt, times } = result;
  const own = resultId(id, row_id, repetition);
  return {
    ...{ id: own, trace_id: own, name, kind: 'experiment' },
    started_at: times === undefined ? new Date().toISOString() : formatTimestamp(times.started_at),
    ...(times !== undefined && { ended_at: formatTimestamp(times.ended_at) }),
    ...{ input_data: row, output_data: textOf(result.output) },
    ...(error === null
      ? { status: 'ok' }
      : { status: 'error', error_message: error.message, ...(error.code !== null && { error_code: error.code }) }),
    attributes: {
      'spanhouse.experiment.id': id,
      'spanhouse.experiment.row_id': row_id,
      'spanhouse.experiment.repetition': repetition,
      ...(trace_id !== null && { 'spanhouse.experiment.trace_id': trace_id }),
      ...(attempt !== null && { 'spanhouse.experiment.attempt': attempt }),
    },
    // Results live as long as their experiment.
    trace_tags: { [KEEP_TAG]: true },
    signals: signalsOf(result.scores),
  };
}

/** @throws DomainError `too_large` */
function textOf(output: unknown): string | null {
  if (output === null || output === undefined || typeof output === 'string') return output ?? null;
  try {
    return sortedJson(output);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new DomainError('too_large', 'An output is too large for JSON', { cause: error });
  }
}

/** Texts stay texts, whatever else they might say. */
function signalsOf(scores: GivenResult['scores']): NonNullable<SpanInput['signals']> {
  const signals = Object.entries(scores).map(([name, value]) => [
    name,
    typeof value === 'string' ? { value, type: 'categorical' as const } : value,
  ]);
  return Object.fromEntries(signals) as NonNullable<SpanInput['signals']>;
}

/** What is wrong with the span of a result, as what is wrong with the result. */
export function asGiven(error: unknown, at: (index: number, issue: Issue) => Issue): unknown {
  if (!(error instanceof DomainError) || error.kind !== 'invalid') return error;
  return invalid(
    error.issues.map((issue) => {
      const [, index = '0', field = '', name] = issue.pointer.split('/');
      const pointer = field === 'signals' ? `/scores/${name ?? ''}` : field === 'output_data' ? '/output_data' : '';
      return at(Number(index), { ...issue, pointer });
    }),
  );
}
