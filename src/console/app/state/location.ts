import { signal } from '@preact/signals';
import { addressOf, changed, placeOf, type Place } from '../../model/place.js';

/** Path of the server's public URL, without a slash at its end. */
export const base = document.querySelector<HTMLMetaElement>('meta[name="spanhouse-base"]')?.content ?? '';

/** The token of the link by which a trace is shared, where the page shows that alone; null: it is the console. */
export const sharedBy = document.querySelector<HTMLMetaElement>('meta[name="spanhouse-shared"]')?.content ?? null;

/** Where the console is: everything that is shown follows from it. */
export const place = signal<Place>(placeOf(base, window.location));

addEventListener('popstate', () => (place.value = placeOf(base, window.location)));

interface NavigateOptions {
  /** Whether the way back skips where we are, as for a change of what is shown rather than of where one is. */
  readonly replace?: boolean;
}

export function navigate(address: string, { replace = false }: NavigateOptions = {}): void {
  const url = new URL(address, window.location.href);
  if (url.href === window.location.href) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', url);
  const screenBefore = place.value.screen + (place.value.id ?? '');
  place.value = placeOf(base, url);
  if (screenBefore !== place.value.screen + (place.value.id ?? '')) scrollTo(0, 0);
}

export interface Target {
  readonly screen: string;
  readonly id?: string | null;
  readonly query?: URLSearchParams | Readonly<Record<string, string>>;
}

/** The address of a screen of the project that is shown. */
export function hrefOf({ screen, id = null, query = {} }: Target): string {
  return addressOf(base, {
    project: place.value.project,
    screen,
    id,
    query: new URLSearchParams(query),
  });
}

/** The address of this view with other parameters. */
export function hrefWith(changes: Parameters<typeof changed>[1]): string {
  const query = changed(place.value.query, changes);
  if (sharedBy !== null) return `${base}/s/${sharedBy}${query.size === 0 ? '' : `?${query.toString()}`}`;
  return addressOf(base, { ...place.value, query });
}

/** Changes parameters of this view. */
export function setQuery(changes: Parameters<typeof changed>[1], options: NavigateOptions = {}): void {
  navigate(hrefWith(changes), options);
}

/** Links of the console change the view without loading the page again; whoever wants a new tab gets one. */
export function followLinks(): void {
  document.addEventListener('click', (event) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = (event.target as Element).closest('a');
    if (link === null || link.target !== '' || link.hasAttribute('download')) return;
    const url = new URL(link.href, window.location.href);
    const ours = url.origin === window.location.origin && url.pathname.startsWith(`${base}/console`);
    const onPage =
      url.pathname === window.location.pathname && url.search === window.location.search && url.hash !== '';
    if (!ours || onPage) return;
    event.preventDefault();
    navigate(url.href);
  });
}
