import type { TSchema } from '@sinclair/typebox';
import type { Part } from './parts.js';
import { dataset_rows, dataset_tag_moves, dataset_versions, datasets } from './records/datasets.js';
import {
  comparisons,
  experiment_judges,
  experiment_metrics,
  experiment_scorers,
  experiment_tag_moves,
  experiments,
} from './records/experiments.js';
import { comments, corrections, feedback, feedback_links, span_feedback } from './records/feedback.js';
import { evaluations, judges, pinned_examples, pinned_versions } from './records/judges.js';
import { prices, prompt_versions, prompts, tag_moves } from './records/prompts.js';
import { dashboards, saved_views } from './records/views.js';
import { attachments, score_definitions, scores, sessions, spans, traces } from './records/spans.js';

export { MAX_JUDGED_TRACES, MAX_MODEL_ANSWER } from './records/judges.js';
export { MAX_REVISIONS } from './records/record.js';
export type { AttachmentRecord, ScoreRecord, SessionRecord, SpanRecord, TraceRecord } from './records/spans.js';

/*
 * The records that a project is exported as and imported from: what the other calls of the API answer, with what these
 * leave out because nobody else needs it. Schemas are those of bodies, since the records come from a file: what other
 * calls bound is bounded here, too, by the same numbers, but for what is larger once it is stored. What no schema says of
 * them is in `TransferService`, and how many there may be in the store.
 */

/** The schema of the records of each part. */
export const RECORDS = {
  prompts,
  prompt_versions,
  tag_moves,
  prices,
  score_definitions,
  saved_views,
  dashboards,
  datasets,
  dataset_versions,
  dataset_rows,
  dataset_tag_moves,
  experiments,
  experiment_scorers,
  experiment_metrics,
  experiment_tag_moves,
  comparisons,
  feedback_links,
  judges,
  pinned_examples,
  pinned_versions,
  experiment_judges,
  spans,
  traces,
  sessions,
  scores,
  attachments,
  evaluations,
  feedback,
  span_feedback,
  corrections,
  comments,
} as const satisfies Record<Part, TSchema>;
