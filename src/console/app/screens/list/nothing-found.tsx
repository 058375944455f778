import type { ListDefinition } from '../../../../engine/traces/model/list/definitions.js';
import { conditionsOf, listRangeOf, withoutCondition } from '../../../model/list-query.js';
import { changed } from '../../../model/place.js';
import { rangeLabel } from '../../../model/range.js';
import { writeTime } from '../../../model/time.js';
import { Icon } from '../../parts/icon.js';
import { Empty, Skeleton } from '../../parts/states.js';
import { TourShown } from '../../parts/tour.js';
import { call } from '../../state/api.js';
import { hrefOf } from '../../state/location.js';
import { zone } from '../../state/preferences.js';
import { useQuery } from '../../state/query.js';

interface NothingFoundProps {
  readonly list: ListDefinition;
  readonly query: URLSearchParams;
}

/** Why a list is empty: nothing has come yet, or something hides it, each of which can be dropped. */
export function NothingFound({ list, query }: NothingFoundProps) {
  const { data } = useQuery({
    key: [`/${list.name}`, 'any'],
    ask: (signal) => call(`GET /${list.name}`, { query: { limit: 1, fields: 'id' }, signal }),
    keep: false,
  });
  if (data === undefined) return <Skeleton rows={3} />;
  if (data.length === 0)
    return (
      <>
        <Empty title={`No ${list.name} yet`}>
          <p>
            {list.name === 'sessions'
              ? 'A session groups traces by session ID: send spans with a session_id.'
              : 'They appear here as soon as your application sends spans.'}
          </p>
          <a class="button main" href={hrefOf({ screen: 'first' })}>
            <Icon name="first" /> Send your first trace
          </a>
        </Empty>
        <TourShown />
      </>
    );
  const conditions = conditionsOf(list, query);
  const range = listRangeOf(query);
  const link = (without: URLSearchParams) => hrefOf({ screen: list.name, query: without });
  return (
    <Empty title={`No ${list.name} match`}>
      <p>Try removing a filter:</p>
      {/* The links go with the filters. */}
      <ul class="stack" onClick={() => document.getElementById('main')?.focus()}>
        {range.range !== 'all' && (
          <li>
            <a class="button" href={link(changed(query, { range: 'all', from: null, to: null, offset: null }))}>
              <Icon name="close" /> {rangeLabel(range, (time) => writeTime(time, zone.value))}
            </a>
          </li>
        )}
        {conditions.map((condition) => (
          <li key={condition.parameter + condition.value}>
            <a class="button clip" href={link(withoutCondition(list, query, condition))}>
              <Icon name="close" /> {condition.words} <bdi class="clip">{condition.value}</bdi>
            </a>
          </li>
        ))}
        {query.has('offset') && (
          <li>
            <a class="button" href={link(changed(query, { offset: null }))}>
              <Icon name="left" /> Back to first page
            </a>
          </li>
        )}
      </ul>
    </Empty>
  );
}
