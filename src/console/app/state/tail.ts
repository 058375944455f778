import { EventSourceParserStream } from 'eventsource-parser/stream';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, pathWith, request } from './api.js';
import { isPassing } from './query.js';

export interface TailEvent {
  readonly event: string;
  readonly data: unknown;
}

/** How a tail is; `resting` while the tab is hidden. */
export type TailState = 'off' | 'connecting' | 'live' | 'resting' | 'waiting' | 'failed';

interface Tail {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly on: boolean;
  readonly onEvent: (event: TailEvent) => void;
}

interface Connection {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly onEvent: (event: TailEvent) => void;
  readonly onState: (state: TailState) => void;
  readonly signal: AbortSignal;
}

/** What happens at a path of the API, while it is on and the tab is seen; interrupted, it continues behind the last event. */
export function useTail({ path, query, on, onEvent }: Tail): TailState {
  const [state, setState] = useState<TailState>('off');
  const address = pathWith(path, query);
  // What is done with an event is that of the latest drawing.
  const latest = useRef(onEvent);
  latest.current = onEvent;
  useEffect(() => {
    if (!on) {
      setState('off');
      return;
    }
    const abort = new AbortController();
    void follow({ path, query, onEvent: (event) => latest.current(event), onState: setState, signal: abort.signal });
    return () => abort.abort();
  }, [address, on]);
  return state;
}

const LONGEST_WAIT_MS = 15_000;
/** After the server has ended it, as it does when it stops. */
const RETRY_MS = 1000;

async function follow({ path, query, onEvent, onState, signal }: Connection): Promise<void> {
  let lastId = '';
  let failures = 0;
  while (!signal.aborted) {
    if (document.hidden) {
      onState('resting');
      await untilSeen(signal);
      continue;
    }
    const seen = whileSeen(signal);
    onState(failures === 0 ? 'connecting' : 'waiting');
    try {
      const headers = { Accept: 'text/event-stream', ...(lastId !== '' && { 'Last-Event-ID': lastId }) };
      const response = await request(path, { query, headers, signal: seen.signal });
      failures = 0;
      onState('live');
      await readEvents(response, onEvent, (id) => (lastId = id));
      await pause(RETRY_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && !isPassing(error)) {
        onState('failed');
        return;
      }
      failures += seen.signal.aborted ? 0 : 1;
      const asked = error instanceof ApiError ? 1000 * (error.retryAfter ?? 0) : 0;
      if (failures > 0) await pause(Math.max(asked, Math.min(LONGEST_WAIT_MS, 500 * 2 ** failures)), signal);
    } finally {
      seen.end();
    }
  }
}

/** @param onId also of what has no event with it: it, too, says where to continue */
async function readEvents(response: Response, onEvent: (event: TailEvent) => void, onId: (id: string) => void) {
  if (response.body === null) return;
  const events = response.body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream({ onId }));
  const reader = events.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const { event = 'message', data } = next.value;
    onEvent({ event, data: JSON.parse(data) as unknown });
  }
}

/** A signal that is aborted when the tab is hidden, or with another signal. */
function whileSeen(outer: AbortSignal): { readonly signal: AbortSignal; end(): void } {
  const hidden = new AbortController();
  const onChange = () => {
    if (document.hidden) hidden.abort();
  };
  document.addEventListener('visibilitychange', onChange);
  return {
    signal: AbortSignal.any([outer, hidden.signal]),
    end: () => document.removeEventListener('visibilitychange', onChange),
  };
}

function untilSeen(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    document.addEventListener('visibilitychange', done);
    signal.addEventListener('abort', done);
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
