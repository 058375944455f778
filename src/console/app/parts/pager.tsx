import { count } from '../../model/format.js';
import { pagesAround } from '../../model/pages.js';
import { hrefWith } from '../state/location.js';
import { Icon } from './icon.js';

interface PagerProps {
  readonly offset: number;
  readonly limit: number;
  /** How many rows this page has. */
  readonly shown: number;
  /** Null while it is not known. */
  readonly total: number | null;
}

/** Which part of a list is shown, of how many rows, and links to the others. Nothing for an empty list, which says so itself. */
export function Pager({ offset, limit, shown, total }: PagerProps) {
  const page = Math.floor(offset / limit) + 1;
  const pages = total === null ? page + (shown === limit ? 1 : 0) : Math.max(1, Math.ceil(total / limit));
  if (shown === 0 && offset === 0) return null;
  const href = (to: number) => hrefWith({ offset: to === 1 ? null : String((to - 1) * limit) });
  return (
    <div class="line apart pager">
      <span class="soft">
        {shown === 0 ? 'No rows' : `${count(offset + 1)}–${count(offset + shown)}`} of{' '}
        {total === null ? '…' : count(total)}
      </span>
      {pages > 1 && (
        <nav class="line" aria-label="Pages" onClick={() => scrollTo(0, 0)}>
          {page > 1 && (
            <a class="button only-icon" href={href(page - 1)} aria-label="Previous page" rel="prev">
              <Icon name="left" />
            </a>
          )}
          {pagesAround(page, pages).map((to, index) =>
            to === null ? (
              <span key={`gap-${index}`} aria-hidden="true">
                …
              </span>
            ) : (
              <a
                key={to}
                class="button quiet"
                href={href(to)}
                aria-label={`Page ${to}`}
                {...(to === page && { 'aria-current': 'page' as const })}
              >
                {count(to)}
              </a>
            ),
          )}
          {page < pages && (
            <a class="button only-icon" href={href(page + 1)} aria-label="Next page" rel="next">
              <Icon name="right" />
            </a>
          )}
        </nav>
      )}
    </div>
  );
}
