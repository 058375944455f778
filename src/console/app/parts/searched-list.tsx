import type { ComponentChildren } from 'preact';
import { counted } from '../../model/format.js';
import { hrefWith, setQuery } from '../state/location.js';
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
  /** The table of those that are shown. */
  readonly children: ComponentChildren;
}

/** A list with a search, kept in the URL as `q` and `offset`, and what it found. */
export function SearchedList({ noun, by, q, shown, total, offset, limit, children }: Props) {
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
        {q !== '' && total !== null && (
          <span class="soft" role="status">
            {counted(total, 'match', 'matches')}
          </span>
        )}
      </div>
      {shown === 0 ? (
        <Empty title={offset > 0 ? `No ${noun} on this page` : `No ${noun} match`}>
          <a href={hrefWith({ q: null, offset: null })}>Show all {noun}</a>
        </Empty>
      ) : (
        children
      )}
      <Pager offset={offset} limit={limit} shown={shown} total={total} />
    </div>
  );
}
