import type { ComponentChildren } from 'preact';
import { counted } from '../../model/format.js';
import { hrefWith, place, setQuery } from '../state/location.js';
import { Pager } from './pager.js';
import { Empty } from './states.js';

interface Props {
  /** What is listed, in the plural: datasets. */
  readonly noun: string;
  /** What is searched in: name. */
  readonly by: string;
  readonly q: string;
  readonly shown: number;
  readonly total: number | null;
  readonly offset: number;
  readonly limit: number;
  /** More that narrows the list, and the parameters of the address that it sets. */
  readonly filters?: ComponentChildren;
  readonly filtered?: readonly string[];
  /** The table of those that are shown. */
  readonly children: ComponentChildren;
}

/** A list with a search and filters, kept in the URL as `q`, `offset` and what filters set, and what it found. */
export function SearchedList(props: Props) {
  const { noun, by, q, shown, total, offset, limit, filters, filtered = [], children } = props;
  const { query } = place.value;
  const isNarrowed = q !== '' || filtered.some((name) => query.has(name));
  const whole = Object.fromEntries(['q', 'offset', ...filtered].map((name) => [name, null]));
  return (
    <div class="stack">
      <div class="line">
        <input
          class="input"
          type="search"
          aria-label={`Search ${noun} by ${by}`}
          placeholder={`Search by ${by}`}
          maxLength={200}
          value={q}
          onInput={({ currentTarget: { value } }) =>
            setQuery({ q: value === '' ? null : value, offset: null }, { replace: true })
          }
        />
        {filters}
        {isNarrowed && total !== null && (
          <span class="soft" role="status">
            {counted(total, 'match', 'matches')}
          </span>
        )}
      </div>
      {shown === 0 ? (
        <Empty title={offset > 0 ? `No ${noun} on this page` : `No ${noun} match`}>
          <a href={hrefWith(whole)}>Show all {noun}</a>
        </Empty>
      ) : (
        children
      )}
      <Pager offset={offset} limit={limit} shown={shown} total={total} />
    </div>
  );
}
