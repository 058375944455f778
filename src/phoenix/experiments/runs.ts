import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { time, uuid } from '../../engine/schema/parts.js';
import { TRACE_ID, traceUuid } from '../../engine/schema/ids.js';
import { formatTimestamp, parseTimestamp, type Micros } from '../../engine/timestamp.js';
import type { StoredResult } from '../../engine/traces/model/experiment/results.js';
import { invalid } from '../../engine/validation/validation.js';
import { MAX_REPETITIONS } from '../../features/experiments/experiment.js';
import type { GivenResult } from '../../features/experiments/given-result.js';
import { nodeId, rowIdOf } from '../datasets/examples.js';
import { outputOf, storedOutput } from '../output-text.js';

/* A run of Phoenix is a result of an experiment. */

/** Longer errors are cut. */
const MAX_ERROR = 10_000;

const exampleId = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description: 'The example: `node_id` as it was read, or the id of the row.',
});
const output = Type.Unknown({ description: 'What the task made: any JSON.' });
const repetition = Type.Integer({ minimum: 1, maximum: MAX_REPETITIONS, description: 'Which repetition it is.' });
const sentTime = (description: string) => Type.String({ minLength: 1, maxLength: 64, description });

export const RunInput = Type.Object(
  {
    dataset_example_id: exampleId,
    output: Type.Optional(output),
    repetition_number: repetition,
    start_time: sentTime('When the task began, in ISO 8601.'),
    end_time: sentTime('When it was over.'),
    trace_id: optional(
      Type.String({ maxLength: 64, description: 'The trace in which the task ran, as OpenTelemetry names it.' }),
    ),
    error: optional(Type.String({ description: 'What went wrong; absent or empty: nothing.' })),
    id: optional(Type.Unknown({ description: 'Ignored.' })),
    experiment_id: optional(Type.Unknown({ description: 'Ignored.' })),
  },
  { $id: 'PhoenixRunInput', description: 'The result of an example, as clients of Phoenix send it.' },
);

export const RunRead = Type.Object(
  {
    id: uuid('Id of the result.'),
    experiment_id: uuid('Id of the experiment.'),
    dataset_example_id: exampleId,
    output,
    repetition_number: repetition,
    start_time: time('When its trace began, as far as is known.'),
    end_time: time('When the result was received.'),
    trace_id: Type.String({ description: 'The trace in which the task ran, as OpenTelemetry names it.' }),
    error: Type.Optional(Type.String({ description: 'What went wrong; absent: nothing.' })),
  },
  { $id: 'PhoenixRun', description: 'A result of an experiment, as clients of Phoenix read it.' },
);
export type RunRead = Static<typeof RunRead>;

/** @throws DomainError `invalid` */
export function givenResult(run: Static<typeof RunInput>): GivenResult {
  const { dataset_example_id, output, repetition_number, error } = run;
  const trace = run.trace_id?.toLowerCase() ?? '';
  return {
    ...{ row_id: rowIdOf(dataset_example_id), repetition: repetition_number, output: storedOutput(output ?? null) },
    error: error == null || error === '' ? null : { message: error.slice(0, MAX_ERROR), code: null },
    ...{ trace_id: TRACE_ID.test(trace) ? traceUuid(trace) : null, scores: {}, attempt: null },
    times: timesOf(run),
  };
}

function timesOf({ start_time, end_time }: Static<typeof RunInput>): NonNullable<GivenResult['times']> {
  const [started_at, ended_at] = [momentOf(start_time, '/start_time'), momentOf(end_time, '/end_time')];
  return { started_at, ended_at: Math.max(started_at, ended_at) };
}

function momentOf(text: string, pointer: string): Micros {
  const at = parseTimestamp(text);
  if (at === undefined) throw invalid([{ pointer, detail: 'must be an ISO 8601 time' }]);
  return at;
}

export function toRun(experimentId: string, result: StoredResult): RunRead {
  const { id, row_id, repetition, created_at, duration_ms, has_error, error_message } = result;
  return {
    ...{ id, experiment_id: experimentId, dataset_example_id: nodeId(row_id), repetition_number: repetition },
    output: outputOf(result.output_data),
    start_time: formatTimestamp(created_at - Math.round((duration_ms ?? 0) * 1000)),
    ...{ end_time: formatTimestamp(created_at), trace_id: result.trace_id.replaceAll('-', '') },
    ...(has_error && { error: error_message ?? 'error' }),
  };
}
