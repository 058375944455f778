import { Type } from '@sinclair/typebox';
import type { ScoreService } from '../../features/scores/score-service.js';
import { assertValid } from '../../engine/validation/validation.js';
import { defineRoute, type BodyDefinition, type RawBody } from '../../http/route.js';
import { parseAndFree } from '../../http/wire/json.js';
import { storeFeedback } from '../feedback/feedback.js';
import { MAX_ID } from '../ids.js';
import { BASE, TAG } from '../tag.js';
import { storeRuns, type RunParts } from './ingestion.js';
import { readParts } from './multipart.js';
import { batch, MAX_RUNS, Run, RunBatch, RunPatch } from './run-schema.js';
import { asObject } from '../../facade/json.js';

export interface RunRouteParts extends RunParts {
  readonly scores: Pick<ScoreService, 'post'>;
}

/** A client sends less at once, but a run alone may be large. */
const MAX_MB = 20;

const Accepted = Type.Object(
  { message: Type.String({ description: 'Always `Runs are stored`.' }) },
  { $id: 'LangsmithAccepted', description: 'Runs are stored.' },
);
const STORED = { status: 202, body: { message: 'Runs are stored' } } as const;

const shared = {
  tag: TAG,
  access: 'key',
  responses: { 202: { description: 'The runs are durable, and in every list.', schema: Accepted } },
  errors: ['invalid', 'overloaded', 'unavailable'],
} as const;

/** Runs are read one by one, so that one that breaks a rule is refused alone. */
function unreadBody(schema: typeof Run | typeof RunPatch | typeof RunBatch): BodyDefinition<unknown> {
  return {
    ...{ maxBytes: MAX_MB * 1024 * 1024, contentTypes: ['application/json'], schema, lenient: true },
    decode: (bytes) => parseAndFree(bytes),
  };
}

const formBody: BodyDefinition<RawBody> = {
  ...{ maxBytes: MAX_MB * 1024 * 1024, contentTypes: ['multipart/form-data'], lenient: true },
  schema: Type.String({ format: 'binary', description: 'Runs, with fields and files as parts of their own.' }),
  decode: (bytes, mediaType) => ({ bytes, mediaType }),
};

const PARTS =
  'A run becomes a span. Of each field the latest value counts, by the times of the runs, so order does not matter, and you can ' +
  'safely resend runs.';

/** Runs, as clients of LangSmith send them. */
export function runRoutes(parts: RunRouteParts) {
  return [postBatchRoute(parts), postRunRoute(parts), patchRunRoute(parts), postMultipartRoute(parts)];
}

function postBatchRoute(parts: RunParts) {
  return defineRoute({
    ...shared,
    method: 'POST',
    path: `${BASE}/runs/batch`,
    operationId: 'postLangsmithRuns',
    summary: 'Store runs (LangSmith)',
    description: `Stores up to ${MAX_RUNS} runs, and up to ${MAX_MB} MB. If some are invalid, they are refused (422) and all others are stored. ${PARTS}`,
    body: unreadBody(RunBatch),
    async handle({ principal, body }) {
      const { post, patch } = assertValid(batch, body);
      const sent = [
        ...(post ?? []).map((run, index) => ({ isPatch: false, body: run, pointer: `/post/${index}` })),
        ...(patch ?? []).map((run, index) => ({ isPatch: true, body: run, pointer: `/patch/${index}` })),
      ];
      await storeRuns(principal.project_id, sent, parts);
      return STORED;
    },
  });
}

function postRunRoute(parts: RunParts) {
  return defineRoute({
    ...shared,
    method: 'POST',
    path: `${BASE}/runs`,
    operationId: 'postLangsmithRun',
    summary: 'Store a run (LangSmith)',
    description: `Stores one run. ${PARTS}`,
    body: unreadBody(Run),
    async handle({ principal, body }) {
      await storeRuns(principal.project_id, [{ isPatch: false, body, pointer: '' }], parts);
      return STORED;
    },
  });
}

function patchRunRoute(parts: RunParts) {
  return defineRoute({
    ...shared,
    method: 'PATCH',
    path: `${BASE}/runs/:run_id`,
    operationId: 'patchLangsmithRun',
    summary: 'Store what is new of a run (LangSmith)',
    description:
      'Adds to a run, also to one that has not arrived yet. Without `trace_id` and `dotted_order`, the trace is that of the stored ' +
      `run. ${PARTS}`,
    params: Type.Object({ run_id: Type.String({ minLength: 1, maxLength: MAX_ID, description: 'Id of the run.' }) }),
    body: unreadBody(RunPatch),
    async handle({ principal, params: { run_id: id }, body }) {
      const object = asObject(body);
      const sent = { isPatch: true, body: object === undefined ? body : { ...object, id }, pointer: '' };
      await storeRuns(principal.project_id, [sent], parts);
      return STORED;
    },
  });
}

function postMultipartRoute(parts: RunRouteParts) {
  return defineRoute({
    ...shared,
    method: 'POST',
    path: `${BASE}/runs/multipart`,
    operationId: 'postLangsmithRunParts',
    summary: 'Store runs with files (LangSmith)',
    description:
      `Stores runs whose fields are parts of their own, with feedback, up to ${MAX_MB} MB. Images among the files are stored with ` +
      `their spans; of other files, only name, type and size. ${PARTS}`,
    body: formBody,
    async handle({ principal, body: { bytes } }) {
      const { runs, feedback } = await readParts(bytes);
      // What is wrong with one does not keep the other from being stored.
      const stored = await Promise.allSettled([
        storeRuns(principal.project_id, runs, parts),
        storeFeedback(principal, feedback, parts.scores),
      ]);
      for (const each of stored) if (each.status === 'rejected') throw each.reason;
      return STORED;
    },
  });
}
