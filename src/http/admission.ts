import type { IncomingMessage } from 'node:http';
import { DomainError } from '../engine/errors.js';
import type { Principal } from '../engine/identity/identity.js';
import type { Callers } from './callers.js';
import { isProjectId, mostSpecificFirst, pathMeantBy, templatePath, type PathMeant } from './path.js';
import type { PathValues } from './query.js';
import { remoteAddressOf } from './remote-address.js';
import type { Route } from './route.js';

/** Who says for whom a request acts. */
export type RequestIdentity = Pick<Callers, 'authenticate' | 'requireProject' | 'requireStanding'>;

/** A request that the router has taken apart. */
export type RoutedRequest = IncomingMessage & { readonly params?: PathValues };

/** What the Python SDK sends in place of a project that it does not know: that of the key. */
const PLACEHOLDER = '{project_id}';

/** The values of a request's path, with the key's project in the place of its placeholder, where the route takes that. */
export function pathValuesOf(
  { takesPlaceholder = false }: Pick<Route, 'takesPlaceholder'>,
  { params = {} }: RoutedRequest,
  principal: Principal | null,
): PathValues {
  if (!takesPlaceholder || principal === null || params['project_id'] !== PLACEHOLDER) return params;
  return { ...params, project_id: principal.project_id };
}

/** Says which path was meant by one such as `/projects/judges`, which takes `judges` for a project. */
export function requireProjectId(
  route: Pick<Route, 'access' | 'takesPlaceholder'>,
  identity: RequestIdentity,
  request: RoutedRequest,
  meant: FindPath,
): void {
  const projectId = request.params?.['project_id'];
  if (route.access === 'public' || typeof projectId !== 'string' || isProjectId(projectId)) return;
  if (route.takesPlaceholder === true && projectId === PLACEHOLDER) return;
  identity.authenticate(request.headers, { anyProject: true });
  const found = meant(request);
  if (found !== undefined) throw nothingAt(found);
}

export function admitted(
  route: Pick<Route, 'access' | 'anyProject' | 'takesPlaceholder'>,
  identity: RequestIdentity,
  request: RoutedRequest,
): Principal | null {
  const { access, anyProject = false } = route;
  if (access === 'public') return null;
  const remoteAddress = remoteAddressOf(request);
  const principal = identity.authenticate(request.headers, { anyProject, remoteAddress });
  const { project_id: projectId } = pathValuesOf(route, request, principal);
  if (typeof projectId === 'string') identity.requireProject(principal, projectId);
  return principal;
}

/** Finds what was meant by a request at whose path nothing is; undefined: nothing that is known. */
export type FindPath = (request: IncomingMessage) => PathMeant | undefined;

export function pathFinder(routes: readonly Route[]): FindPath {
  const open = routes.filter(({ access }) => access === 'key').map(({ path }) => path);
  const templates = mostSpecificFirst(open).map(templatePath);
  return ({ url = '' }) => pathMeantBy(templates, url.split('?')[0] ?? '');
}

export function nothingAt(meant: PathMeant | undefined): DomainError {
  if (meant?.lacksProject !== true) {
    const hint = meant === undefined ? '' : ` did you mean ${meant.path}?`;
    return new DomainError('not_found', `Nothing exists at this path;${hint} GET /docs/api lists all paths`);
  }
  const detail = `The path lacks the project: use ${meant.path}, with the project id that the first start printed`;
  return new DomainError('not_found', `${detail} (SPANHOUSE_PROJECT)`);
}
