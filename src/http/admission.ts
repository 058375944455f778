import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { DomainError } from '../engine/errors.js';
import type { Principal } from '../engine/identity/identity.js';
import { bySpecificity, isProjectId, pathMeantBy, templatePath, type PathMeant } from './path.js';
import type { PathValues } from './query.js';
import type { Route } from './route.js';

/** The part of the identity service that HTTP needs. */
export interface RequestIdentity {
  /**
   * For whom a request acts.
   * @param options `anyProject`: a person who signed in to several projects need not say which
   * @throws DomainError `unauthenticated`, `forbidden`
   */
  authenticate(headers: IncomingHttpHeaders, options?: { readonly anyProject?: boolean }): Principal;
  /** Throws DomainError `forbidden`. */
  requireProject(principal: Principal, projectId: string): void;
  /** Throws DomainError `unauthenticated` when the principal's project was deleted since. */
  requireStanding(principal: Principal): void;
}

/** A request that the router has taken apart. */
export type RoutedRequest = IncomingMessage & { readonly params?: PathValues };

/** Says which path was meant by one such as `/projects/judges`, which takes `judges` for a project. */
export function requireProjectId(identity: RequestIdentity, request: RoutedRequest, meant: FindPath): void {
  const projectId = request.params?.['project_id'];
  if (typeof projectId !== 'string' || isProjectId(projectId)) return;
  identity.authenticate(request.headers, { anyProject: true });
  const found = meant(request);
  if (found !== undefined) throw nothingAt(found);
}

export function admitted(
  { access, anyProject = false }: Pick<Route, 'access' | 'anyProject'>,
  identity: RequestIdentity,
  request: RoutedRequest,
): Principal | null {
  if (access === 'public') return null;
  const principal = identity.authenticate(request.headers, anyProject ? { anyProject } : undefined);
  const projectId = request.params?.['project_id'];
  if (typeof projectId === 'string') identity.requireProject(principal, projectId);
  return principal;
}

/** Finds what was meant by a request at whose path nothing is; undefined: nothing that is known. */
export type FindPath = (request: IncomingMessage) => PathMeant | undefined;

export function pathFinder(routes: readonly Route[]): FindPath {
  const templates = routes
    .filter(({ access }) => access === 'key')
    .map(({ path }) => path)
    .sort(bySpecificity)
    .map(templatePath);
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
