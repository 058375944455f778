/**
 * Paths are written once, as `/tags/:tag:pin`: a segment is a literal or a parameter, each with an optional literal suffix
 * that begins with a colon. The router and the documentation each want it in their own notation.
 */
interface Segment {
  readonly literal: string;
  readonly parameter: string | null;
}

function segmentsOf(path: string): Segment[] {
  return path.split('/').map((text) => {
    const match = /^:([a-z][a-z0-9_]*)(:[a-z_]+)?$/.exec(text);
    if (match !== null) return { parameter: match[1] ?? '', literal: match[2] ?? '' };
    if (!/^([A-Za-z0-9._-]+(:[a-z_]+)?)?$/.test(text)) throw new Error(`Not a path segment: ${text} in ${path}`);
    return { parameter: null, literal: text };
  });
}

/** For Express, whose patterns take a colon for the start of a parameter. */
export function routerPath(path: string): string {
  const written = segmentsOf(path).map(({ parameter, literal }) =>
    [parameter === null ? '' : `:${parameter}`, literal.replace(':', '\\:')].join(''),
  );
  return written.join('/');
}

/** For people: `/tags/{tag}:pin`, in the documentation, metrics and logs. */
export function templatePath(path: string): string {
  const written = segmentsOf(path).map(({ parameter, literal }) =>
    parameter === null ? literal : `{${parameter}}${literal}`,
  );
  return written.join('/');
}

/** Sorts the more specific path first, so that `/judges/:id:run` is not taken for a judge called `7:run`. */
export function bySpecificity(left: string, right: string): number {
  const rank = ({ parameter, literal }: Segment) => (parameter === null ? 0 : literal === '' ? 2 : 1);
  const [a, b] = [segmentsOf(left), segmentsOf(right)];
  for (const [index, segment] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const difference = rank(segment) - rank(other);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
