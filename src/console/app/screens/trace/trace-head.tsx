import { useMemo, useState } from 'preact/hooks';
import type { TraceRead } from '../../../../engine/traces/model/list/fields.js';
import { count, counted } from '../../../model/format.js';
import { figuresOf, nameOfSpan, type TraceOutline } from '../../../model/trace-outline.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl, CopyButton } from '../../parts/copy.js';
import { Ending } from '../../parts/ending.js';
import { Cost, Figure, Took, When } from '../../parts/figures.js';
import { Lazy } from '../../parts/lazy.js';
import { Status } from '../../parts/kind.js';
import { copy } from '../../state/announce.js';
import { leaveDeleted } from '../../state/deleted.js';
import { hrefOf } from '../../state/location.js';
import { AddSpansButton } from '../datasets/add-spans-button.js';
import { Opinions } from '../scores/opinions.js';
import { NextAndPrevious } from './next-and-previous.js';
import { SessionLink } from './session-link.js';
import { TagChips } from './tag-chips.js';

/** How often it is asked what is said of a trace while spans may still come. */
const OPINIONS_EVERY_MS = 15_000;

interface TraceHeadProps {
  readonly trace: TraceRead;
  readonly outline: TraceOutline | undefined;
  /** Whether spans may still come. */
  readonly isAlive: boolean;
}

/** What a trace is and cost, and what can be done with it. */
export function TraceHead({ trace, outline, isAlive }: TraceHeadProps) {
  const { id, name, has_error, started_at, duration_ms, cost, span_count, error_count, session_id, tags } = trace;
  const figures = useMemo(() => (outline === undefined ? null : figuresOf(outline)), [outline]);
  const running = isAlive && (figures?.running ?? 0) > 0;
  const spans = (query: Readonly<Record<string, string>> = {}) =>
    hrefOf({ screen: 'spans', query: { trace_id: id, range: 'all', ...query } });
  return (
    <header class="trace-head">
      <div class="line apart">
        <div class="line">
          <h1>
            <bdi>{name}</bdi>
          </h1>
          <Status error={has_error} running={running} />
        </div>
        <div class="line">
          <NextAndPrevious id={id} />
          <Button look="quiet" icon="copy" onClick={() => void copy(window.location.href, 'Link')}>
            Copy link
          </Button>
          <CopyAsCurl path={`/traces/${id}/outline`} />
          <ShareTrace id={id} />
          <AddSpansButton spans={{ query: `trace_id=${id}&parent_span_id=null`, isList: false }} isSmall />
          <DeleteTrace id={id} name={name} spans={span_count} />
        </div>
      </div>
      <dl class="trace-figures">
        <Figure label="Started">
          <When at={started_at} />
        </Figure>
        <Figure label="Duration">
          <Took ms={duration_ms} />
        </Figure>
        <Figure label="Cost">
          <Cost of={cost} />
        </Figure>
        <Figure label="Tokens">{figures === null ? '…' : count(figures.tokens)}</Figure>
        <Figure label="Spans">
          <a href={spans()}>{count(span_count)}</a>
        </Figure>
        <Figure label="Errors">
          {error_count === 0 ? '0' : <a href={spans({ has_error: 'true' })}>{count(error_count)}</a>}
        </Figure>
        {session_id !== null && (
          <Figure label="Session">
            <SessionLink id={session_id} />
          </Figure>
        )}
        <Figure label="ID">
          <code>{id.slice(0, 8)}…</code>
          <CopyButton text={id} what="Trace ID" />
        </Figure>
      </dl>
      <TagChips tags={tags} screen="traces" />
      <Opinions
        of={{ type: 'trace', id }}
        name={name}
        every={isAlive ? OPINIONS_EVERY_MS : false}
        {...(outline !== undefined && { nameOfSpan: (span: string) => nameOfSpan(outline, span) })}
      />
      <div class="comments-place">
        <Lazy
          load={comments}
          props={{ traceId: id, nameOfSpan: (span: string) => outline && nameOfSpan(outline, span) }}
        />
      </div>
    </header>
  );
}

const comments = () => import('../sharing/index.js').then(({ Comments }) => Comments);
const shareDialog = () => import('../sharing/index.js').then(({ ShareDialog }) => ShareDialog);

function ShareTrace({ id }: { readonly id: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button look="quiet" icon="links" onClick={() => setOpen(true)}>
        Share
      </Button>
      {isOpen && <Lazy load={shareDialog} props={{ traceId: id, onClose: () => setOpen(false) }} />}
    </>
  );
}

function DeleteTrace({ id, name, spans }: { readonly id: string; readonly name: string; readonly spans: number }) {
  const [asking, setAsking] = useState(false);
  const gone = () => leaveDeleted({ id, to: { screen: 'traces' } });
  return (
    <>
      <Button look="quiet" icon="trash" changes onClick={() => setAsking(true)}>
        Delete
      </Button>
      {asking && (
        <Ending
          title="Delete this trace?"
          action="Delete trace"
          path={`/traces/${id}`}
          done={`Trace and ${counted(spans, 'span')} deleted`}
          onDone={gone}
          onClose={() => setAsking(false)}
        >
          <p>
            <bdi>{name}</bdi> is deleted with {counted(spans, 'span')}, images, scores, evaluations, feedback, comments
            and share links, and no longer counts in any list or metric. This cannot be undone.
          </p>
        </Ending>
      )}
    </>
  );
}
