import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { traceFields, type TraceRead } from '../../../../engine/traces/model/list/fields.js';
import { traceOutline, type TraceOutline } from '../../../model/trace-outline.js';
import type { ScreenProps } from '../../frame/screen-props.js';
import { Answered, Empty } from '../../parts/states.js';
import { ApiError, call } from '../../state/api.js';
import { useQuery, type Answer } from '../../state/query.js';
import { useTail } from '../../state/tail.js';
import { traceOpened } from '../../state/tour.js';
import { SpanDetail } from './span-detail.js';
import { TraceBody } from './trace-body.js';
import { TraceHead } from './trace-head.js';

/* For the page of a shared trace, which loads this chunk and shows nothing else of it. */
export { figuresOf, traceOutline } from '../../../model/trace-outline.js';
export { ConversationIn } from '../../parts/conversation.js';
export { JsonIn } from '../../parts/json-view.js';
export { SpanError } from './span-error.js';
export { Image } from './span-images.js';
export { TraceBody } from './trace-body.js';

/** How long after its last sign of life a trace is watched, and how often where no tail tells of it. */
const WATCHED_MS = 10 * 60_000;
const WATCH_EVERY_MS = 3000;

/** Texts of the root span may be large, and are shown with it. */
const FIELDS = Object.keys(traceFields).filter((name) => !name.startsWith('root_span_'));

/** One trace: what it is, its spans as a tree, and one of them in full. */
export default function TraceScreen({ id }: ScreenProps) {
  if (id === null)
    return (
      <Empty title="No trace selected" isPage>
        Choose one from the list of traces.
      </Empty>
    );
  return <Trace key={id} id={id} />;
}

function Trace({ id }: { readonly id: string }) {
  const [isTailed, setTailed] = useState(false);
  const trace = useQuery({
    key: ['/traces', id],
    ask: async (signal) => {
      const [found] = await call('GET /traces', { query: { id, fields: FIELDS.join(',') }, signal });
      if (found === undefined)
        throw new ApiError(404, {
          title: 'Trace not found',
          detail: 'It was deleted, or its first span has not arrived yet.',
        });
      return found;
    },
    every: (answer) => (aliveMs(answer) > 0 && !isTailed ? WATCH_EVERY_MS : false),
  });
  const isAlive = useAlive(trace.data);
  const tail = useTail({
    path: '/traces:tail',
    query: new URLSearchParams({ id, fields: 'id' }),
    on: isAlive,
    onEvent: () => void trace.refetch(),
  });
  useEffect(() => {
    setTailed(tail === 'live');
    // A tail tells of what comes from now on.
    if (tail === 'live') void trace.refetch();
  }, [tail]);
  const outline = useOutline(id, trace.data);
  useEffect(() => {
    if (trace.data === undefined) return;
    document.title = `${trace.data.name} · Spanhouse`;
    traceOpened();
  }, [trace.data?.name]);
  return (
    <div class="trace">
      <Answered answer={trace} rows={2} isPage>
        {(data) => <TraceHead trace={data} outline={outline.data} isAlive={isAlive} />}
      </Answered>
      {/* Of what is not there, one message will do. */}
      {(trace.error === null || trace.data !== undefined) && (
        <div class="trace-shown">
          <Answered answer={outline}>{(data) => <TraceBody id={id} outline={data} Detail={SpanDetail} />}</Answered>
        </div>
      )}
    </div>
  );
}

/** The trace is small, its outline is not: it is asked again when there is something new in the trace. */
function useOutline(id: string, trace: TraceRead | undefined): Answer<TraceOutline> {
  const answer = useQuery({
    key: [`/traces/${id}/outline`],
    ask: (signal) => call('GET /traces/:id/outline', { params: { id }, signal }),
  });
  const before = useRef<string | undefined>(undefined);
  const now = trace === undefined ? undefined : stateOf(trace);
  useEffect(() => {
    if (before.current !== undefined) void answer.refetch();
    before.current = now;
  }, [now]);
  // What came between the two answers is in the trace alone, if the outline was answered first.
  const isBehind = trace !== undefined && answer.data !== undefined && answer.data.total < trace.span_count;
  useEffect(() => {
    if (!isBehind) return;
    const catchUp = async () => {
      // One that was under way may be older than the trace, too.
      const { data } = await answer.refetch({ cancelRefetch: false });
      if ((data?.total ?? 0) < trace.span_count) await answer.refetch();
    };
    void catchUp();
  }, [isBehind]);
  const data = useMemo(() => (answer.data === undefined ? undefined : traceOutline(answer.data)), [answer.data]);
  return { ...answer, data } as Answer<TraceOutline>;
}

/** For how long spans may still come, in milliseconds. */
function aliveMs(trace: TraceRead | undefined): number {
  if (trace === undefined) return 0;
  const last = Math.max(Date.parse(trace.ended_at ?? trace.started_at), Date.parse(trace.created_at));
  return last + WATCHED_MS - Date.now();
}

/** Whether spans may still come. */
function useAlive(trace: TraceRead | undefined): boolean {
  const [, redraw] = useState<object>();
  const left = aliveMs(trace);
  useEffect(() => {
    if (left <= 0) return;
    const timer = setTimeout(() => redraw({}), Math.min(left, WATCHED_MS));
    return () => clearTimeout(timer);
  }, [trace]);
  return left > 0;
}

function stateOf({ span_count, error_count, ended_at, duration_ms, cost, status }: TraceRead): string {
  return JSON.stringify([span_count, error_count, ended_at, duration_ms, cost, status]);
}
