import Negotiator from 'negotiator';
import { Type } from '@sinclair/typebox';
import { basePath } from '../base-path.js';
import { defineRoute } from '../route.js';

/** What is where, for those who are no browser. */
const PLACES = {
  console: '/console',
  docs: '/docs',
  openapi: '/openapi.json',
  spans: '/spans',
  traces: '/traces',
  sessions: '/sessions',
  otlp: '/v1/traces',
  prompts: '/projects/{project_id}/prompts',
  judges: '/projects/{project_id}/judges',
  health: '/healthz',
  readiness: '/readyz',
  metrics: '/metrics',
} as const;

const Root = Type.Object(
  {
    name: Type.String({ description: 'Name of the program.' }),
    version: Type.String({ description: 'Its version.' }),
    paths: Type.Record(Type.String(), Type.String(), { description: 'Paths of this server by purpose.' }),
  },
  { description: 'Main paths.' },
);

interface RootParts {
  readonly title: string;
  readonly version: string;
  /** Base of the URLs handed out. */
  readonly baseUrl: () => string;
}

export function rootRoute({ title, version, baseUrl }: RootParts) {
  return defineRoute({
    method: 'GET',
    path: '/',
    operationId: 'getRoot',
    summary: 'List the main paths',
    description: 'Returns the main paths of the server. Browsers are redirected to `/console`.',
    tag: 'Operations',
    access: 'public',
    responses: {
      200: { description: 'The main paths.', schema: Root },
      302: { description: 'For browsers, which accept `text/html`: redirect to `/console`.' },
    },
    errors: [],
    handle({ headers }) {
      const vary = { Vary: 'Accept' };
      if (new Negotiator({ headers }).mediaType(['application/json', 'text/html']) !== 'text/html')
        return { status: 200, headers: vary, body: { name: title, version, paths: PLACES } };
      const console = basePath(baseUrl()) + PLACES.console;
      const location = { ...vary, Location: console };
      return { status: 302, headers: location, content: `See ${console}\n`, contentType: 'text/plain' };
    },
  });
}
