import type { IncomingHttpHeaders } from 'node:http';
import { basePath } from '../http/base-path.js';
import { isProjectId } from '../http/path.js';

export interface LinkParts {
  /** Base of the URLs handed out. */
  readonly baseUrl: () => string;
  /** The project that the person sees whose browser sent a request; null: unknown. */
  readonly projectOf: (headers: IncomingHttpHeaders) => string | null;
}

/** What routes say that {@link toConsole} answers. */
export const LED = { 302: { description: 'Leads to the console.' } };

/** A redirect to a place of a project in the console, or to the console itself, which asks who is there. @param place null: unknown */
export function toConsole(baseUrl: string, projectId: string | null, place: string | null) {
  const base = `${basePath(baseUrl)}/console`;
  const isKnown = projectId !== null && isProjectId(projectId) && place !== null;
  const location = isKnown ? `${base}/p/${projectId.toLowerCase()}/${place}` : base;
  const headers = { Location: location, 'Cache-Control': 'no-store' };
  return { status: 302, headers, content: `See ${location}\n`, contentType: 'text/plain' };
}
