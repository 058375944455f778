import type { JudgePreviewRead } from '../preview-schema.js';
import type { JudgePreview } from '../preview-service.js';
import { excerptOf } from '../../../engine/excerpt.js';
import { formatTimestamp } from '../../../engine/timestamp.js';

/** Longest input or output of a span of the sample, in characters. */
const MAX_TEXT = 2_000;

export function judgePreviewRead(preview: JudgePreview): JudgePreviewRead {
  const { not_runnable_reason, since, sample, tried, other_kinds, ...figures } = preview;
  return {
    runnable: not_runnable_reason === null,
    not_runnable_reason: not_runnable_reason?.text ?? null,
    since: formatTimestamp(since),
    ...figures,
    other_kinds: [...other_kinds],
    sample: sample.map(sampleRead),
    tried: tried.map(triedRead),
  };
}

function sampleRead(span: JudgePreview['sample'][number]): JudgePreviewRead['sample'][number] {
  const { id, trace_id, name, kind, started_at } = span;
  const input = excerptOf(span.input?.text ?? null, MAX_TEXT);
  const output = excerptOf(span.output?.text ?? null, MAX_TEXT);
  const texts = { input_data: input, output_data: output, input, output };
  return { id, trace_id, name, kind, started_at: formatTimestamp(started_at), ...texts };
}

function triedRead({ span, mismatches, request, ...rest }: JudgePreview['tried'][number]) {
  return {
    span_id: span.id,
    mismatches: [...mismatches],
    request: request && {
      model: request.model,
      temperature: request.temperature,
      messages: request.messages.map(({ role, content }) => ({ role, content })),
      schema: request.schema?.schema ?? null,
    },
    ...rest,
  };
}
