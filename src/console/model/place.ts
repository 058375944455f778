/**
 * What an address of the console means: `/console/p/{project}/{screen}/{id}?…`. Every view is its address, so that it can be
 * reloaded, sent to someone, and come back to; parameters are named as those of the API.
 */
export interface Place {
  /** Null at `/console` itself. */
  readonly project: string | null;
  /** Empty where none is named. */
  readonly screen: string;
  /** Path behind the screen, decoded; null: the screen as a whole. A prompt's slug may have slashes. */
  readonly id: string | null;
  readonly query: URLSearchParams;
}

/** @param base path of the server's public URL, without a slash at its end */
export function placeOf(
  base: string,
  { pathname, search }: { readonly pathname: string; readonly search: string },
): Place {
  const path = pathname.startsWith(`${base}/console`) ? pathname.slice(base.length + '/console'.length) : '';
  const [marker, project = '', screen = '', ...rest] = path.split('/').filter((part) => part !== '');
  const query = new URLSearchParams(search);
  if (marker !== 'p' || project === '') return { project: null, screen: '', id: null, query };
  const id = rest.length === 0 ? null : rest.map(decoded).join('/');
  return { project, screen, id, query };
}

/** The address of a place, below the server's public URL. */
export function addressOf(base: string, { project, screen, id, query }: Place): string {
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  if (project === null) return `${base}/console${search}`;
  const path = id === null ? '' : `/${pathOf(id)}`;
  return `${base}/console/p/${project}/${screen}${path}${search}`;
}

/** Slashes stay slashes, unless a part between them means something else in an address. */
function pathOf(id: string): string {
  const parts = id.split('/');
  return parts.some((part) => ['', '.', '..'].includes(part))
    ? encodeURIComponent(id)
    : parts.map(encodeURIComponent).join('/');
}

/**
 * Whether a browser takes a path for another: there is no way to write a name that is nothing but one dot or two, it takes a
 * backslash for a slash and leaves line breaks and tabs out, and what begins with two slashes is another host.
 */
export function leadsElsewhere(path: string): boolean {
  const [name = ''] = path.split('?');
  return !/^\/(?!\/)[^\\#\t\r\n]*$/.test(name) || name.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part));
}

/** A query with some parameters changed; null removes one, a list repeats it. */
export function changed(
  query: URLSearchParams,
  changes: Readonly<Record<string, string | readonly string[] | null>>,
): URLSearchParams {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    for (const one of value === null ? [] : [value].flat()) next.append(name, one);
  }
  return next;
}

/** An address that someone has cut may hold a percent sign that stands for nothing. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
