import { Type } from '@sinclair/typebox';
import { defineRoute } from '../http/route.js';
import { BASE, TAG } from './tag.js';

/** What clients compare with what they need: the version of Phoenix whose calls are served. */
const SERVED_VERSION = '20.8.0';

/** What clients ask before calls that older servers did not have, also without a key. */
export function versionRoute() {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/arize_phoenix_version`,
    operationId: 'getPhoenixVersion',
    summary: 'Get the version of Phoenix (Phoenix)',
    description: 'Returns the version of Phoenix whose calls are served.',
    tag: TAG,
    access: 'public',
    responses: { 200: { description: 'The version.', schema: Type.String(), contentType: 'text/plain' } },
    errors: [],
    handle: () => ({ status: 200, content: SERVED_VERSION, contentType: 'text/plain' }),
  });
}
