import { UUID, uuidOf } from '../engine/schema/ids.js';

/**
 * Paths are written once, as `/tags/:tag:pin`: a segment is a literal or a parameter, each with an optional literal suffix
 * that begins with a colon. A parameter takes slashes, too, when it is written with a plus. The router and the
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

/**
 * The more specific path first, so that `/judges/:id:run` is not taken for a judge called `7:run`. Each path is taken apart once:
 * there are hundreds.
 */
export function mostSpecificFirst(paths: readonly string[]): string[] {
  return paths
    .map((path) => ({ path, segments: segmentsOf(path) }))
    .sort((left, right) => bySpecificity(left.segments, right.segments))
    .map(({ path }) => path);
}

function bySpecificity(a: readonly Segment[], b: readonly Segment[]): number {
  const rank = ({ parameter, literal, takesSlashes }: Segment) =>
    parameter === null ? 0 : literal !== '' ? 1 : takesSlashes ? 3 : 2;
  for (const [index, segment] of a.entries()) {
    const other = b[index];
    if (other === undefined) return -1;
    const difference = rank(segment) - rank(other);
    if (difference !== 0) return difference;
  }
  // What a parameter with slashes ends with tells it from one that takes all of it.
  return b.length - a.length;
}

const OF_PROJECT = '/projects/{project_id}/';
/** What some paths begin with and others do not, the likelier to be meant first. */
const BEGINNINGS = [OF_PROJECT, '/', '/v1/'];

/** The path that was perhaps meant by one at which nothing is. */
export interface PathMeant {
  /** As `templatePath` writes it. */
  readonly path: string;
  /** Whether the path that was given differs in that it names no project. */
  readonly lacksProject: boolean;
}

/**
 * For a path that begins as others do, such as `/judges`, `/projects//judges` or `/v1/spans`: the path that was meant.
 * @param templates of all paths, as `templatePath` writes them
 * @param asked the path that was asked for, without its query
 */
export function pathMeantBy(templates: readonly string[], asked: string): PathMeant | undefined {
  const segments = asked.split('/').filter((segment) => segment !== '');
  const inProjects = segments[0] === 'projects';
  const namesProject = inProjects && isProjectId(segments[1] ?? '');
  const given = segments.slice(namesProject ? 2 : inProjects || segments[0] === 'v1' ? 1 : 0);
  const behind = (beginning: string) =>
    templates
      .filter((path) => path.startsWith(beginning))
      .map((path) => ({ path, wanted: path.slice(beginning.length).split('/') }));
  for (const beginning of BEGINNINGS) {
    const found = behind(beginning).find(
      ({ wanted }) =>
        wanted.length === given.length && wanted.every((segment, index) => isLike(segment, given[index] ?? '')),
    );
    if (found !== undefined) return { path: found.path, lacksProject: beginning === OF_PROJECT && !namesProject };
  }
  // Elsewhere it may be a mistake in another path, as there are both spans and the spans of a project.
  const begins = inProjects && !namesProject && behind(OF_PROJECT).some(({ wanted }) => wanted[0] === given[0]);
  return begins ? { path: `${OF_PROJECT}${given[0] ?? ''}/…`, lacksProject: true } : undefined;
}

/** Whether a segment of a path may be the id of a project. */
export function isProjectId(segment: string): boolean {
  return UUID.test(uuidOf(segment));
}

/** Whether a segment of a template takes a text. A parameter takes any, except for the literal behind it. */
function isLike(segment: string, given: string): boolean {
  const literal = /^\{[^}]*\}(.*)$/.exec(segment)?.[1];
  return literal === undefined ? segment === given : given.endsWith(literal);
}
