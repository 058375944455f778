import type { JudgeRead } from '../../../../features/judges/schema.js';
import { feedbackOf } from '../../../model/review.js';
import { Button } from '../../parts/button.js';
import { Field } from '../../parts/field.js';
import { Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { useKeptDraft } from '../../state/kept-draft.js';
import { changedAt } from '../../state/query.js';
import { storeCorrection } from '../judges/data.js';

interface FeedbackFormProps {
  /** What is spoken of: `The judge`. */
  readonly about: string;
  readonly slug: string;
  readonly spanId: string;
  /** Present: whether it was right is said, instead of whether the output is good. */
  readonly judge?: JudgeRead;
}

const NOTHING_SAID = { thumb: '' as '' | 'up' | 'down', reason: '', expected: '' };

/** Thumbs up or down, then why. Said again it replaces what the same person said before. */
export function FeedbackForm({ about, slug, spanId, judge }: FeedbackFormProps) {
  const { draft, change, drop } = useKeptDraft(`feedback.${spanId}.${judge?.id ?? ''}`, NOTHING_SAID);
  const { thumb, reason, expected } = draft;
  const good = thumb === '' ? null : thumb === 'up';
  const set = (changed: Partial<typeof draft>) => change({ ...draft, ...changed });
  const { busy, failure, run } = useAction();
  const isScored = judge?.evaluation_type === 'scored';
  const send = () =>
    run(async () => {
      const body = feedbackOf({ good, reason, expected, stored: false }, { judge: judge ?? null });
      if (judge === undefined) {
        const params = { prompt_slug: slug, completion_id: spanId };
        await call('POST /v1/prompts/:prompt_slug/completions/:completion_id/feedback', { params, body });
        announce('Feedback saved');
      } else announce(await storeCorrection({ judge, spanId, body }));
      drop();
      await changedAt('/feedback');
    });
  const words = judge === undefined ? ['Good', 'Bad'] : ['Agree', 'Disagree'];
  return (
    <form
      class="stack feedback"
      aria-label={`${about}: your feedback`}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div class="line">
        <Button changes="feedback:write" icon="thumbs-up" pressed={good === true} onClick={() => set({ thumb: 'up' })}>
          {words[0]}
        </Button>
        <Button
          changes="feedback:write"
          icon="thumbs-down"
          pressed={good === false}
          onClick={() => set({ thumb: 'down' })}
        >
          {words[1]}
        </Button>
      </div>
      {good !== null && (
        <>
          <Field label="Why (optional)">
            <textarea
              class="input"
              maxLength={32_768}
              value={reason}
              onInput={(event) => set({ reason: event.currentTarget.value })}
            />
          </Field>
          {judge === undefined && (
            <Field label="Expected output (optional)">
              <textarea
                class="input"
                value={expected}
                onInput={(event) => set({ expected: event.currentTarget.value })}
              />
            </Field>
          )}
          {isScored && !good && (
            <Field label="Expected score (optional)">
              <input
                class="input"
                type="number"
                step="any"
                min={judge.score_min ?? undefined}
                max={judge.score_max ?? undefined}
                value={expected}
                onInput={(event) => set({ expected: event.currentTarget.value })}
              />
            </Field>
          )}
          {failure !== null && <Failure error={failure} />}
          <div class="line">
            <Button type="submit" look="main" changes="feedback:write" busy={busy}>
              Save feedback
            </Button>
            <Button onClick={() => drop()}>Cancel</Button>
          </div>
        </>
      )}
    </form>
  );
}
