import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { count, line, number, oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { pageRead } from '../../engine/schema/page.js';

/** Most runs that one call may queue. */
const MAX_RUN_SPANS = 1_000;
const MAX_BACKFILL = 10_000;

export const RunInput = Type.Object(
  {
    span_ids: optional(
      Type.Array(uuid('Id of a span.'), {
        minItems: 1,
        maxItems: MAX_RUN_SPANS,
        description: 'Spans to evaluate, even if they do not match the filters or are not in the sample.',
      }),
    ),
    trace_ids: optional(
      Type.Array(uuid('Id of a trace.'), {
        minItems: 1,
        maxItems: MAX_RUN_SPANS,
        description: 'For judges of traces: traces to evaluate now, even if none of their spans matches the filters.',
      }),
    ),
    session_ids: optional(
      Type.Array(uuid('Id of a session.'), {
        minItems: 1,
        maxItems: MAX_RUN_SPANS,
        description:
          'For judges of sessions: sessions to evaluate now, even if none of their spans matches the filters.',
      }),
    ),
    backfill: optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_BACKFILL,
        description:
          'Number of the newest finished spans to evaluate that match the filters, even if they are not in the sample; for ' +
          'judges of traces or sessions: of the newest ones with such a span.',
      }),
    ),
    experiment_id: optional(
      uuid(
        'Experiment whose results to evaluate: those with an output that the version of the judge has not evaluated. A ' +
          'judge of traces evaluates the trace of each result.',
      ),
    ),
    judge_version: optional(
      line(
        200,
        'Version of the judge that evaluates all results. Default: the one last run on the experiment, else ' +
          "the judge's current one. `current`: the current one in any case.",
      ),
    ),
  },
  {
    $id: 'RunInput',
    description: 'What to evaluate: spans, traces or sessions by id, the newest ones, or the results of an experiment.',
  },
);
export type RunInput = Static<typeof RunInput>;

const subject_id = orNull(uuid('The trace or session to evaluate; null: the span.'));

export const RunQueuedRead = Type.Object(
  {
    queued: count('Number of queued evaluations.'),
    runs: Type.Array(
      Type.Object(
        {
          id: uuid('Id of the run, which becomes the id of the evaluation.'),
          span_id: uuid('Span to evaluate; for a trace or session: a span of it.'),
          subject_id,
        },
        { description: 'One queued evaluation.' },
      ),
      { description: 'The queued evaluations; of an experiment, none are listed.' },
    ),
    judge_version: Type.Optional(
      Type.String({ description: 'Of an experiment: the version of the judge that evaluates its results.' }),
    ),
    left: Type.Optional(
      count('Of an experiment: results for which the queue had no room. The same call queues them later.'),
    ),
    skipped: Type.Optional(count('Of an experiment: results without an output, such as those with an error only.')),
  },
  { $id: 'RunQueued', description: 'Evaluations that were queued.' },
);
export type RunQueuedRead = Static<typeof RunQueuedRead>;

export const RunsRetriedRead = Type.Object(
  {
    queued: count('Number of failed runs that were queued again.'),
    left: count('Number of further failed runs, for which the queue had no room.'),
  },
  { $id: 'RunsRetried', description: 'Failed runs that are retried.' },
);
export type RunsRetriedRead = Static<typeof RunsRetriedRead>;

export const RunStateName = oneOf(
  ['queued', 'running', 'failed'],
  'queued: the run waits for its first or next attempt; running: the model is being called; failed: there are ' +
    'no further attempts.',
);

export const RunRead = Type.Object(
  {
    id: uuid('Id of the run, which becomes the id of the evaluation.'),
    span_id: uuid('Span to evaluate; for a trace or session: a span of it.'),
    trace_id: uuid('Trace of the span when the run was queued.'),
    subject_id,
    origin: oneOf(
      ['automatic', 'requested'],
      'automatic: the judge queued a new span automatically; requested: a run call did.',
    ),
    state: RunStateName,
    attempts: count('Number of attempts that ended without an evaluation.'),
    next_attempt_at: orNull(time('Earliest time of the next attempt; null unless the run is queued.')),
    reason: orNull(Type.String({ description: 'Why the last attempt failed.' })),
    created_at: time('When the run was queued.'),
    updated_at: time('When an attempt last ended, else when the run was queued.'),
  },
  { $id: 'JudgeRun', description: 'A run of a judge on one span, trace or session: queued, running or failed.' },
);
export type RunRead = Static<typeof RunRead>;

export const RunPageRead = Type.Object(
  {
    runs: Type.Array(RunRead, {
      description: 'Runs, newest first. Finished runs are in the list of evaluations instead.',
    }),
    ...pageRead,
  },
  { $id: 'JudgeRunPage', description: 'A page of runs.' },
);
export type RunPageRead = Static<typeof RunPageRead>;

export const ANSWERS = [
  'evaluated',
  'running',
  'queued',
  'failed',
  'not_found',
  'judge_call',
  'own_call',
  'unfinished',
  'empty',
  'filtered',
  'no_endpoint',
  'not_running_then',
  'judge_disabled',
  'arrived_before',
  'sampled_out',
  'pending',
  'changed_since',
  'quiet',
  'evaluated_often',
] as const;

export const MismatchRead = Type.Object(
  {
    filter: Type.String({ description: 'Name of the filter.' }),
    wanted: Type.String({ description: 'What the filter requires.' }),
    found: Type.String({ description: 'What the span has instead.' }),
  },
  { description: 'A filter that the span does not match.' },
);

export const ExplanationRead = Type.Object(
  {
    judge_id: uuid('Id of the judge.'),
    span_id: uuid('Id of the span; for a trace or session: of the span that represents it.'),
    subject_id: orNull(uuid('The trace or session that the answer is about; null: the span.')),
    answer: oneOf(ANSWERS, 'The answer as a code, for programs.'),
    explanation: Type.String({ description: 'The answer as a sentence, for people.' }),
    evaluation_id: orNull(uuid('The newest evaluation of it by this judge; null if there is none.')),
    run: orNull(RunRead),
    position: orNull(
      count(
        'Number of evaluations ahead in the queue; null if it is not queued, or waits for new spans to stop arriving.',
      ),
    ),
    mismatches: Type.Array(MismatchRead, {
      description:
        'Filters that the span does not match; empty if it matches or was not found, and for a trace or session.',
    }),
    sample: Type.Object(
      {
        hash: number('Hash of span, trace or session and judge, a number from 0 to 1.'),
        rate: number('Sample rate of the judge.'),
        included: Type.Boolean({ description: 'Whether the hash is less than the rate.' }),
      },
      { description: 'Whether the span, trace or session is in the sample.' },
    ),
  },
  { $id: 'Explanation', description: 'Why a span, trace or session was or was not evaluated.' },
);
export type ExplanationRead = Static<typeof ExplanationRead>;
