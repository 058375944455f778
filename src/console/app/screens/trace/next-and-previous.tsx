import { useRef } from 'preact/hooks';
import { count } from '../../../model/format.js';
import { neighboursOf, openedFrom, rowsAround, type ListedRow, type OpenedFrom } from '../../../model/neighbours.js';
import { Button } from '../../parts/button.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { useKeys } from '../../state/keys.js';
import { hrefOf, navigate, place } from '../../state/location.js';
import { useQuery } from '../../state/query.js';

/** The way back to the list that the trace was opened from, and on to its neighbours there. */
export function NextAndPrevious({ id }: { readonly id: string }) {
  const from = openedFrom(place.value.query.get('list'));
  return from === null ? null : <Neighbours from={from} id={id} />;
}

function Neighbours({ from, id }: { readonly from: OpenedFrom; readonly id: string }) {
  const { first, asked } = rowsAround(from);
  const rows = useQuery({
    key: [`/${from.name}`, 'around', asked.toString()],
    ask: (signal) => call(`GET /${from.name}`, { query: asked, signal }),
  });
  const neighbours = () =>
    neighboursOf(rows.data ?? [], first, { trace: place.value.id ?? id, span: place.value.query.get('span') });
  const found = neighbours();
  const end = found.place === null ? 'This trace is no longer in the list' : 'End of list';
  const go = (which: 'next' | 'previous') => {
    // Keys may be quicker than what is drawn.
    const to = neighbours()[which];
    if (to === null) announce(rows.data === undefined ? 'Loading list' : end);
    else navigate(hrefTo(to, place.value.query));
  };
  const latest = useRef(go);
  latest.current = go;
  useKeys([
    { keys: 'n', does: 'Next in list', run: () => latest.current('next') },
    { keys: 'p', does: 'Previous in list', run: () => latest.current('previous') },
  ]);
  return (
    <div class="line" role="group" aria-label="List this trace was opened from">
      <a href={hrefOf({ screen: from.name, query: from.query })}>Back to list</a>
      {found.place !== null && <span class="soft">{count(found.place)}</span>}
      <Button
        icon="up"
        label="Previous (p)"
        refused={found.previous === null ? end : null}
        onClick={() => go('previous')}
      />
      <Button icon="down" label="Next (n)" refused={found.next === null ? end : null} onClick={() => go('next')} />
    </div>
  );
}

/** A neighbour as this view shows what is shown now: with the same tab and search. */
function hrefTo({ id, trace_id }: ListedRow, query: URLSearchParams): string {
  const kept = new URLSearchParams(query);
  for (const name of ['span', 'zoom']) kept.delete(name);
  if (trace_id !== undefined) kept.set('span', id);
  return hrefOf({ screen: 'traces', id: trace_id ?? id, query: kept });
}
