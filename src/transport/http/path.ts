/**
 * Paths are written once, as `/tags/:tag:pin`: a segment is a literal or a parameter, each with an optional literal suffix
 * that begins with a colon. The last parameter takes slashes, too, when it is written with a plus. The router and the
 * documentation each want it in their own notation.
 */
interface Segment {
  readonly literal: string;
  readonly parameter: string | null;
  readonly takesSlashes: boolean;
}

function segmentsOf(path: string): Segment[] {
  return path.split('/').map((text) => {
    const match = /^:([a-z][a-z0-9_]*)(\+$)?(:[a-z_]+)?$/.exec(text);
    if (match !== null)
      return { parameter: match[1] ?? '', literal: match[3] ?? '', takesSlashes: match[2] !== undefined };
    if (!/^([A-Za-z0-9._-]+(:[a-z_]+)?)?$/.test(text)) throw new Error(`Not a path segment: ${text} in ${path}`);
    return { parameter: null, literal: text, takesSlashes: false };
  });
}

/** For Express, whose patterns take a colon for the start of a parameter. */
export function routerPath(path: string): string {
  const written = segmentsOf(path).map(({ parameter, literal, takesSlashes }) =>
    [parameter === null ? '' : `${takesSlashes ? '*' : ':'}${parameter}`, literal.replace(':', '\\:')].join(''),
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
  const rank = ({ parameter, literal, takesSlashes }: Segment) =>
    parameter === null ? 0 : literal !== '' ? 1 : takesSlashes ? 3 : 2;
  const [a, b] = [segmentsOf(left), segmentsOf(right)];
  for (const [index, segment] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const difference = rank(segment) - rank(other);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

const OF_PROJECT = '/projects/{project_id}/';

/**
 * For a path without the project that it needs, such as `/judges` or `/projects//judges`: the path that was meant.
 * @param templates of all paths, as `templatePath` writes them
 * @param path as it was asked for, without its query
 */
export function pathWithProject(templates: readonly string[], path: string): string | undefined {
  const segments = path.split('/').filter((segment) => segment !== '');
  const given = segments[0] === 'projects' ? segments.slice(1) : segments;
  const ofProject = templates.filter((template) => template.startsWith(OF_PROJECT));
  const parts = (template: string) => template.slice(OF_PROJECT.length).split('/');
  const found = ofProject.find((template) => {
    const wanted = parts(template);
    return wanted.length === given.length && wanted.every((segment, index) => isLike(segment, given[index] ?? ''));
  });
  // Elsewhere it may be a mistake in another path, as there are both spans and the spans of a project.
  const begins = given !== segments && ofProject.some((template) => parts(template)[0] === given[0]);
  return found ?? (begins ? `${OF_PROJECT}${given[0] ?? ''}/…` : undefined);
}

/** Whether a segment of a template takes a text. A parameter takes any, but for the literal behind it. */
function isLike(segment: string, given: string): boolean {
  const literal = /^\{[^}]*\}(.*)$/.exec(segment)?.[1];
  return literal === undefined ? segment === given : given.endsWith(literal);
}
