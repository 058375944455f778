import type { SessionRead } from '../../../../engine/traces/model/list/fields.js';
import { count } from '../../../model/format.js';
import type { ScreenProps } from '../../frame/screen-props.js';
import { Empty, Answered } from '../../parts/states.js';
import { TextFormSwitch } from '../../parts/long-text.js';
import { Pager } from '../../parts/pager.js';
import { call, callPage } from '../../state/api.js';
import { hrefWith, place } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { useFeedback } from '../scores/data.js';
import { Opinions } from '../scores/opinions.js';
import { SessionHead } from './session-head.js';
import { TurnRail } from './turn-rail.js';
import { TurnShown, type Verdict } from './turn-shown.js';
import { useTurns } from './turns.js';

/** Turns on a page. */
const LIMIT = 50;
/** How often a session is asked for again, as it may continue. */
const AGAIN_MS = 10_000;

/** One conversation across the traces of a session. */
export default function SessionScreen({ id }: ScreenProps) {
  const session = useQuery({
    key: ['/sessions', id],
    ask: (signal) => call('GET /sessions/:id', { params: { id: id ?? '' }, signal }),
    every: AGAIN_MS,
  });
  return (
    <Answered answer={session} isPage>
      {(shown) => <Conversation session={shown} />}
    </Answered>
  );
}

/** Spans whose traces are asked for at once: the most that the list answers. */
const MAX_SPANS = 10_000;

/** What judges and people say of the session's spans, by trace. */
function useVerdicts(sessionId: string): ReadonlyMap<string, readonly Verdict[]> {
  const said = useFeedback({ type: 'session', id: sessionId }, { limit: 1000, every: AGAIN_MS });
  const items = said.data?.items ?? [];
  const query = { session_id: sessionId, fields: 'id,trace_id', limit: MAX_SPANS };
  const spans = useQuery({
    key: ['/spans', 'traces of', query],
    ask: (signal) => call('GET /spans', { query, signal }),
    enabled: items.length > 0,
  });
  const traceOf = new Map((spans.data ?? []).map(({ id, trace_id }) => [id, trace_id]));
  return Map.groupBy(items, ({ span_id }) => traceOf.get(span_id) ?? '');
}

function Conversation({ session }: { readonly session: SessionRead }) {
  const { id } = session;
  const offset = Number(place.value.query.get('offset') ?? 0);
  const query = { session_id: id, sort_by: 'started_at', sort_order: 'asc', limit: LIMIT, offset, count: true };
  const traces = useQuery({
    key: ['/traces', 'of session', query],
    ask: (signal) => callPage('GET /traces', { query, signal }),
    every: AGAIN_MS,
  });
  const turns = useTurns(traces.data?.rows ?? []);
  const verdicts = useVerdicts(id);
  return (
    <div class="stack session">
      <SessionHead session={session} />
      <Opinions of={{ type: 'session', id }} name={session.name ?? id} every={AGAIN_MS} />
      <Answered answer={traces}>
        {({ rows, total }) =>
          rows.length === 0 ? (
            <Empty title="No turns on this page">
              <a href={hrefWith({ offset: null })}>Show the first turns</a>
            </Empty>
          ) : (
            <div class="session-body">
              <TurnRail traces={rows} first={offset} />
              <div class="stack">
                <div class="line apart">
                  <p class="soft">
                    Turns {count(offset + 1)}–{count(offset + rows.length)} of {count(total)}
                  </p>
                  <TextFormSwitch />
                </div>
                {(turns ?? []).map((turn, index) => (
                  <TurnShown
                    key={turn.trace.id}
                    turn={turn}
                    number={offset + index + 1}
                    verdicts={verdicts.get(turn.trace.id) ?? []}
                  />
                ))}
                <Pager offset={offset} limit={LIMIT} shown={rows.length} total={total} />
              </div>
            </div>
          )
        }
      </Answered>
    </div>
  );
}
