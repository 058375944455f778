import { useState } from 'preact/hooks';
import { MAX_COMMENT } from '../../../../features/comments/comment.js';
import type { CommentRead } from '../../../../features/comments/schema.js';
import { Button } from '../../parts/button.js';
import { Ending } from '../../parts/ending.js';
import { When } from '../../parts/figures.js';
import { Markdown } from '../../parts/markdown.js';
import { call, ofProject } from '../../state/api.js';
import { hrefWith } from '../../state/location.js';
import { refusalOf, whoami } from '../../state/session.js';
import { CommentForm } from './comment-form.js';

interface CommentShownProps {
  readonly comment: CommentRead;
  readonly nameOfSpan: (id: string) => string | undefined;
  readonly onChanged: () => Promise<void>;
}

/** A comment: who says what of what. One's own can be edited; it can be deleted by its author, and by admins. */
export function CommentShown({ comment, nameOfSpan, onChanged }: CommentShownProps) {
  const [acting, setActing] = useState<'edit' | 'delete' | null>(null);
  const { id, text, span_id, created_by, created_at, edited_at } = comment;
  const isOwn = created_by.id === whoami.value?.user.id;
  const close = () => setActing(null);
  const save = async (typed: string) => {
    await call('PATCH /projects/:project_id/comments/:comment_id', {
      params: { comment_id: id },
      body: { text: typed },
    });
    await onChanged();
    close();
  };
  return (
    <div class="part">
      <div class="line">
        <b>
          <bdi>{created_by.name}</bdi>
        </b>
        <span class="soft small">
          <When at={created_at} />
          {edited_at !== null && (
            <>
              , edited <When at={edited_at} />
            </>
          )}
          {span_id !== null && (
            <>
              {' '}
              on <a href={hrefWith({ span: span_id })}>{<bdi>{nameOfSpan(span_id) ?? 'a span'}</bdi>}</a>
            </>
          )}
        </span>
        {isOwn && acting === null && (
          <Button
            look="quiet"
            icon="edit"
            changes="feedback:write"
            label="Edit comment"
            onClick={() => setActing('edit')}
          />
        )}
        {(isOwn || refusalOf('admin') === null) && (
          <Button
            look="quiet"
            icon="trash"
            changes="feedback:write"
            label={`Delete comment by ${created_by.name}`}
            onClick={() => setActing('delete')}
          />
        )}
      </div>
      {acting === 'edit' ? (
        <CommentForm action="Save" label="Comment" maxLength={MAX_COMMENT} text={text} onSend={save} onCancel={close} />
      ) : (
        <Markdown text={text} />
      )}
      {acting === 'delete' && (
        <Ending
          title="Delete this comment?"
          action="Delete comment"
          path={ofProject(`/comments/${id}`)}
          done="Comment deleted"
          onDone={onChanged}
          onClose={close}
        >
          <p>
            The comment by <bdi>{created_by.name}</bdi> is deleted for everyone. This cannot be undone.
          </p>
        </Ending>
      )}
    </div>
  );
}
