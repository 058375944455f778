import { useState } from 'preact/hooks';
import { MAX_COMMENT, MAX_COMMENTS } from '../../../../features/comments/comment.js';
import type { CommentRead } from '../../../../features/comments/schema.js';
import { count, counted } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { Failure } from '../../parts/states.js';
import { call, ofProject } from '../../state/api.js';
import { place, setQuery } from '../../state/location.js';
import { changedAt, useQuery } from '../../state/query.js';
import { CommentForm } from './comment-form.js';
import { CommentShown } from './comment-shown.js';

interface CommentsProps {
  readonly traceId: string;
  readonly nameOfSpan: (id: string) => string | undefined;
}

/** How many are asked for at once. */
const LIMIT = 100;
/** While the section is open, what others write is looked for so often. */
const EVERY_MS = 15_000;

/** What people say to each other about the trace and its spans. */
export function Comments({ traceId, nameOfSpan }: CommentsProps) {
  const [limit, setLimit] = useState(LIMIT);
  const isOpen = place.value.query.get('comments') === 'open';
  const path = ofProject(`/traces/${traceId}/comments`);
  const answer = useQuery({
    key: [path, limit],
    ask: (signal) =>
      call('GET /projects/:project_id/traces/:trace_id/comments', {
        params: { trace_id: traceId },
        query: { limit },
        signal,
      }),
    every: isOpen ? EVERY_MS : false,
  });
  const changed = () => changedAt(path);
  const total = answer.data?.total;
  return (
    <section class="opinions comments" aria-labelledby="comments">
      <div class="line">
        <h2 id="comments">Comments</h2>
        {total === 0 && <span class="soft">none</span>}
        <Button
          look="quiet"
          icon={isOpen ? 'collapse' : 'expand'}
          more={{ 'aria-expanded': isOpen }}
          onClick={() => setQuery({ comments: isOpen ? null : 'open' }, { replace: true })}
        >
          {isOpen ? 'Hide' : total === undefined || total === 0 ? 'Comment' : `Show ${count(total)}`}
        </Button>
      </div>
      {answer.error !== null && <Failure error={answer.error} retry={() => void answer.refetch()} />}
      {isOpen && answer.data !== undefined && (
        <>
          <CommentList
            comments={answer.data.comments}
            total={answer.data.total}
            nameOfSpan={nameOfSpan}
            onChanged={changed}
            onMore={() => setLimit(MAX_COMMENTS)}
          />
          <NewComment traceId={traceId} nameOfSpan={nameOfSpan} onChanged={changed} />
        </>
      )}
    </section>
  );
}

interface CommentListProps extends Pick<CommentsProps, 'nameOfSpan'> {
  readonly comments: readonly CommentRead[];
  readonly total: number;
  readonly onChanged: () => Promise<void>;
  readonly onMore: () => void;
}

function CommentList({ comments, total, nameOfSpan, onChanged, onMore }: CommentListProps) {
  if (comments.length === 0) return null;
  return (
    <ul class="opinion-list" tabIndex={0} aria-label="Comments">
      {comments.map((comment) => (
        <li key={comment.id}>
          <CommentShown comment={comment} nameOfSpan={nameOfSpan} onChanged={onChanged} />
        </li>
      ))}
      {comments.length < total && (
        <li class="line">
          <Button icon="down" onClick={onMore}>
            Show all
          </Button>
          <span class="soft small">
            the oldest {count(comments.length)} of {counted(total, 'comment')}
          </span>
        </li>
      )}
    </ul>
  );
}

interface NewCommentProps extends CommentsProps {
  readonly onChanged: () => Promise<void>;
}

/** Writes a comment on the trace, or on the span that is open. */
function NewComment({ traceId, nameOfSpan, onChanged }: NewCommentProps) {
  const [onSpan, setOnSpan] = useState(false);
  const span = place.value.query.get('span');
  const name = span === null ? undefined : nameOfSpan(span);
  const send = async (text: string) => {
    await call('POST /projects/:project_id/traces/:trace_id/comments', {
      params: { trace_id: traceId },
      body: { text, span_id: onSpan && name !== undefined ? span : null },
    });
    await onChanged();
  };
  return (
    <CommentForm action="Add comment" label="New comment" maxLength={MAX_COMMENT} onSend={send}>
      {name !== undefined && (
        <label class="line small">
          <input type="checkbox" checked={onSpan} onChange={(event) => setOnSpan(event.currentTarget.checked)} />
          <span>
            About the open span <bdi>{name}</bdi>
          </span>
        </label>
      )}
    </CommentForm>
  );
}
