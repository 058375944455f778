import type { RunInput } from '../../features/judges/run-schema.js';
import type { JudgeRead } from '../../features/judges/schema.js';

type Subject = JudgeRead['subject'];

const IDS = { span: 'span_ids', trace: 'trace_ids', session: 'session_ids' } as const satisfies Record<
  Subject,
  keyof RunInput
>;

/** What a run or an evaluation is about: of a trace or session, its span stands for it. */
export function subjectIdOf({
  span_id,
  subject_id,
}: {
  readonly span_id: string;
  readonly subject_id: string | null;
}): string {
  return subject_id ?? span_id;
}

/** A run call about some spans, traces or sessions. */
export function runOf(subject: Subject, ids: readonly string[]): RunInput {
  return { [IDS[subject]]: ids };
}
