import { useState } from 'preact/hooks';
import type { Static } from '@sinclair/typebox';
import type { UnifiedFeedbackRead } from '../../../../features/feedback/unified-schema.js';
import { counted } from '../../../model/format.js';
import type { ShownMessage } from '../../../model/text-document.js';
import { Button } from '../../parts/button.js';
import { Message } from '../../parts/conversation.js';
import { Cost, Took, When } from '../../parts/figures.js';
import { Icon } from '../../parts/icon.js';
import { Status } from '../../parts/kind.js';
import { hrefOf } from '../../state/location.js';
import { turnAnchor } from './turn-rail.js';
import type { Turn } from './turns.js';

/** What a judge or a person says of a span. */
export type Verdict = Static<typeof UnifiedFeedbackRead>['items'][number];

interface TurnShownProps {
  readonly turn: Turn;
  readonly number: number;
  readonly verdicts: readonly Verdict[];
}

/** A turn: what was said in it, without what was said before, and what is said of it. */
export function TurnShown({ turn, number, verdicts }: TurnShownProps) {
  const { trace, document, messages } = turn;
  const [all, setAll] = useState(false);
  const { id, name, has_error, error_count, started_at, duration_ms, cost } = trace;
  const shown = all ? messages : messages.slice(turn.repeated);
  return (
    <article
      class="turn"
      id={turnAnchor(id)}
      aria-labelledby={`${turnAnchor(id)}-title`}
      data-failed={has_error || error_count > 0 ? '' : undefined}
    >
      <header class="line apart">
        <h2 id={`${turnAnchor(id)}-title`} tabIndex={-1}>
          {number}. <a href={hrefOf({ screen: 'traces', id })}>{<bdi>{name}</bdi>}</a>
        </h2>
        <p class="line soft small">
          <Status error={has_error} />
          {!has_error && error_count > 0 && <span class="bad">{counted(error_count, 'nested error')}</span>}
          <When at={started_at} />
          <Took ms={duration_ms} />
          <Cost of={cost} />
        </p>
      </header>
      <div class="messages">
        {turn.repeated > 0 && (
          <Button look="quiet" icon={all ? 'collapse' : 'expand'} onClick={() => setAll(!all)}>
            {all ? 'Hide' : 'Show'} {counted(turn.repeated, 'message')} from earlier turns
          </Button>
        )}
        {shown.map((message, index) => (
          <Message key={index} message={named(message)} document={document} />
        ))}
        {messages.length === 0 && <p class="soft">The root span of this trace has no text; other spans may.</p>}
      </div>
      {verdicts.length > 0 && (
        <ul class="line small" aria-label="Verdicts">
          {verdicts.map((verdict) => (
            <li key={verdict.id}>
              <VerdictChip verdict={verdict} traceId={id} />
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

/** A text that is no list of messages says nothing of who said it: only which side of the call it is. */
function named(message: ShownMessage): ShownMessage {
  return message.role === '' ? { ...message, role: message.of === 'input' ? 'Input' : 'Output' } : message;
}

function VerdictChip({ verdict, traceId }: { readonly verdict: Verdict; readonly traceId: string }) {
  const judged = verdict.kind === 'judge_evaluation';
  const good = judged ? verdict.evaluation_result : verdict.thumbs_up;
  const by = judged ? verdict.judge_name : verdict.created_by.name;
  const href = hrefOf({ screen: 'traces', id: traceId, query: { span: verdict.span_id, tab: 'evaluations' } });
  return (
    <a class="chip" href={href} title={(judged ? verdict.evaluation_reason : verdict.reason) ?? undefined}>
      <span class={good ? 'good' : 'bad'}>
        <Icon name={judged ? (good ? 'check' : 'close') : good ? 'thumbs-up' : 'thumbs-down'} />
      </span>
      <span class="unseen">{good ? 'good' : 'bad'}, by</span> <bdi>{by}</bdi>
    </a>
  );
}
