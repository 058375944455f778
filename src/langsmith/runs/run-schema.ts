import { Type, type Static } from '@sinclair/typebox';
import { label, optional, time } from '../../engine/schema/inputs.js';
import { compile } from '../../engine/validation/validation.js';
import { MAX_ID } from '../ids.js';

const id = (description: string) => Type.String({ minLength: 1, maxLength: MAX_ID, description });
const object = (description: string) => optional(Type.Record(Type.String(), Type.Unknown(), { description }));
const text = (description: string) => optional(Type.String({ description }));

/** Longest place of a run among others: some two thousand runs below each other. */
const MAX_ORDER = 128 * 1024;
/** Most tags and events of a run that are looked at. */
const MAX_TAGS = 1_000;
const MAX_EVENTS = 100_000;

const said = {
  trace_id: optional(id('Trace of the run; default: as `dotted_order` says, else the run itself.')),
  dotted_order: optional(
    Type.String({ maxLength: MAX_ORDER, description: 'Starts and ids of the runs above it, and of itself.' }),
  ),
  parent_run_id: optional(id('Run that this is a part of.')),
  name: optional(label('Name of the run.')),
  run_type: optional(
    Type.String({ maxLength: 64, description: 'Such as `llm`, `chain` or `tool`: kind of the span.' }),
  ),
  start_time: optional(time('Start of the run.')),
  end_time: optional(time('End of the run.')),
  inputs: optional(Type.Unknown({ description: 'What went in.' })),
  outputs: optional(Type.Unknown({ description: 'What came out.' })),
  error: text('What went wrong.'),
  extra: object('Metadata, and how the model was called.'),
  tags: optional(Type.Array(Type.String(), { maxItems: MAX_TAGS, description: 'Tags of the run.' })),
  events: optional(
    Type.Array(Type.Unknown(), { maxItems: MAX_EVENTS, description: 'Events, of which the first token counts.' }),
  ),
  session_name: optional(label('Name of the project in LangSmith: tag `project`, or an experiment.')),
  session_id: optional(id('Id of the experiment, if the run belongs to one.')),
  reference_example_id: optional(id('Example that the run is a result of.')),
  serialized: optional(Type.Unknown({ description: 'Ignored.' })),
};

export const Run = Type.Object(
  { id: id('Id of the run.'), ...said },
  { $id: 'LangsmithRun', description: 'A run, or what is new of it, as clients of LangSmith send it.' },
);
export type Run = Static<typeof Run>;

export const RunPatch = Type.Object(
  { id: optional(id('Ignored: the path names the run.')), ...said },
  { $id: 'LangsmithRunPatch', description: 'What is new of a run.' },
);

export const run = compile(Run);

/** Most runs of one request. */
export const MAX_RUNS = 10_000;

const runs = (description: string) => optional(Type.Array(Run, { maxItems: MAX_RUNS, description }));
export const RunBatch = Type.Object(
  { post: runs('Runs that have begun, or are over.'), patch: runs('What is new of runs.') },
  { $id: 'LangsmithRunBatch', description: 'Runs of a client of LangSmith.' },
);

const unread = optional(Type.Array(Type.Unknown(), { maxItems: MAX_RUNS }));
/** The batch before its runs are looked at: each stands or falls alone. */
export const batch = compile(Type.Object({ post: unread, patch: unread }));
