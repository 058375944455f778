import type { ComponentChildren } from 'preact';
import { announce, announceError } from '../state/announce.js';
import { call } from '../state/api.js';
import { hrefOf, navigate } from '../state/location.js';

interface SpanLinkProps {
  readonly id: string;
  /** Null: not known; whoever follows the link is taken there all the same. */
  readonly traceId?: string | null;
  readonly children?: ComponentChildren;
}

/** Leads to a span in its trace. Where the trace is not known yet, the link itself is the list that has the span alone. */
export function SpanLink({ id, traceId = null, children }: SpanLinkProps) {
  const text = children ?? <code>{id.slice(0, 8)}</code>;
  if (traceId !== null) return <a href={hrefOf({ screen: 'traces', id: traceId, query: { span: id } })}>{text}</a>;
  return (
    <a
      title={`Span ${id}`}
      href={hrefOf({ screen: 'spans', query: { id, range: 'all' } })}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        void follow(id);
      }}
    >
      {text}
    </a>
  );
}

async function follow(id: string): Promise<void> {
  try {
    const [span] = await call('GET /spans', { query: { id, fields: 'trace_id', limit: 1 } });
    if (span === undefined) announce('This span is no longer stored', { bad: true });
    else navigate(hrefOf({ screen: 'traces', id: span.trace_id, query: { span: id } }));
  } catch (error) {
    announceError(error);
  }
}
