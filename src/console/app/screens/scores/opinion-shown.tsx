import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { UnifiedItemRead } from '../../../../features/feedback/unified-schema.js';
import type { ScoreRead } from '../../../../features/scores/schema.js';
import { NOTHING, scoreText } from '../../../model/format.js';
import { givenBy } from '../../../model/scores.js';
import { Button } from '../../parts/button.js';
import { Ending } from '../../parts/ending.js';
import { When } from '../../parts/figures.js';
import { Icon } from '../../parts/icon.js';
import { Markdown } from '../../parts/markdown.js';
import { SpanLink } from '../../parts/span-link.js';
import { PassOrFail } from '../../parts/verdict.js';
import { VisibleText } from '../../parts/visible-text.js';
import { hrefOf } from '../../state/location.js';
import { whoami } from '../../state/session.js';
import { scoresChanged, type Target } from './data.js';

/** The name of a span in the trace that is shown; undefined: it has none with this id. */
export type NameOfSpan = (id: string) => string | undefined;

export interface ShownProps {
  /** The page that it is shown on. What is about something else leads there. */
  readonly shownOn: Target;
  readonly nameOfSpan?: NameOfSpan;
}

/** A score: what it says, who gave it, when, and of what. One's own can be deleted. */
export function ScoreShown({ score, ...shown }: ShownProps & { readonly score: ScoreRead }) {
  const [deleting, setDeleting] = useState(false);
  const { id, entity_type, entity_id, name, kind, value, source, author, comment, created_at } = score;
  const isOwn = source === 'human' && author === whoami.value?.user.name;
  return (
    <Shown
      {...shown}
      name={<bdi>{name}</bdi>}
      value={<Value of={value} kind={kind} />}
      by={givenBy(score)}
      at={created_at}
      about={{ type: entity_type, id: entity_id }}
      comment={comment}
    >
      {isOwn && (
        <Button
          look="quiet"
          icon="trash"
          changes="admin"
          label={`Delete your score ${name}`}
          onClick={() => setDeleting(true)}
        />
      )}
      {deleting && (
        <Ending
          title="Delete this score?"
          action="Delete score"
          path={`/scores/${id}`}
          done="Score deleted"
          onDone={scoresChanged}
          onClose={() => setDeleting(false)}
        >
          <p>
            Your score <bdi>{name}</bdi>, {scoreText(value)}, no longer counts in any list or metric.
          </p>
        </Ending>
      )}
    </Shown>
  );
}

function Value({ of, kind }: { readonly of: ScoreRead['value']; readonly kind: ScoreRead['kind'] }) {
  if (typeof of === 'boolean')
    return (
      <span class="badge">
        <Icon name={of ? 'check' : 'close'} /> {scoreText(of)}
      </span>
    );
  const text = scoreText(of);
  if (kind === 'text') return <Markdown text={text} />;
  return (
    <b title={String(of)}>
      <VisibleText text={text} />
    </b>
  );
}

/** A verdict of a judge, or feedback of a person on an output or on a verdict. */
export function FeedbackShown({ item, ...shown }: ShownProps & { readonly item: UnifiedItemRead }) {
  const about = { type: 'span', id: item.span_id } as const;
  if (item.kind === 'judge_evaluation')
    return (
      <Shown
        {...shown}
        name={
          <a href={hrefOf({ screen: 'judges', id: item.automation_id })}>
            <bdi>{item.judge_name}</bdi>
          </a>
        }
        value={
          <>
            <PassOrFail passed={item.evaluation_result} />
            {item.score != null && (
              <b>
                {item.score} of {item.score_max ?? NOTHING}
              </b>
            )}
          </>
        }
        by="judge"
        at={item.created_at}
        about={about}
        comment={item.evaluation_reason}
      />
    );
  const words = item.judge_id === undefined ? ['thumbs up', 'thumbs down'] : ['judge was right', 'judge was wrong'];
  return (
    <Shown
      {...shown}
      name="Feedback"
      value={
        <span class={`badge ${item.thumbs_up ? 'good' : 'bad'}`}>
          <Icon name={item.thumbs_up ? 'thumbs-up' : 'thumbs-down'} /> {item.thumbs_up ? words[0] : words[1]}
        </span>
      }
      by={item.created_by.name}
      at={item.updated_at}
      about={about}
      comment={item.reason}
    />
  );
}

interface PartsProps extends ShownProps {
  readonly name: ComponentChildren;
  readonly value: ComponentChildren;
  readonly by: string;
  readonly at: string;
  readonly about: Target;
  readonly comment: string | null;
  readonly children?: ComponentChildren;
}

function Shown({ name, value, by, at, about, comment, shownOn, nameOfSpan, children }: PartsProps) {
  return (
    <div class="part">
      <div class="line">
        <span>{name}</span>
        {value}
        <span class="soft small">
          by <bdi>{by}</bdi>, <When at={at} />
        </span>
        {about.id !== shownOn.id && <Where about={about} shownOn={shownOn} {...(nameOfSpan && { nameOfSpan })} />}
        {children}
      </div>
      {comment !== null && comment !== '' && <Markdown text={comment} />}
    </div>
  );
}

/** Leads to what is spoken of, where that is not the page itself. */
function Where({ about: { type, id }, shownOn, nameOfSpan }: ShownProps & { readonly about: Target }) {
  const short = <code>{id.slice(0, 8)}</code>;
  if (type !== 'span')
    return (
      <span class="small">
        {type} <a href={hrefOf({ screen: `${type}s`, id })}>{short}</a>
      </span>
    );
  const name = nameOfSpan?.(id);
  return (
    <span class="small">
      span{' '}
      <SpanLink id={id} {...(shownOn.type === 'trace' && { traceId: shownOn.id })}>
        {name === undefined ? short : <bdi>{name}</bdi>}
      </SpanLink>
    </span>
  );
}
