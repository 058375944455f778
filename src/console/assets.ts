import Negotiator from 'negotiator';
import { Type } from '@sinclair/typebox';
import { DomainError } from '../engine/errors.js';
import { defineRoute, type Route } from '../http/route.js';
import type { Bundle } from './bundle.js';

const FileParams = Type.Object({ file: Type.String({ description: 'Name of a file of the console.' }) });
/** Of the worker: it loads scripts of ours, and sends nothing anywhere. */
const POLICY = "default-src 'none'; script-src 'self'; frame-ancestors 'none'";
/** A name changes with its content. */
const CACHED_FOR_EVER = 'public, max-age=31536000, immutable';

/** Scripts and styles of the console. */
export function consoleAssetRoute(bundle: Bundle): Route {
  return defineRoute({
    method: 'GET',
    path: '/console/assets/:file',
    operationId: 'getConsoleAsset',
    summary: 'A file of the console',
    description: 'A script or the styles of the console.',
    tag: 'Operations',
    access: 'public',
    hidden: true,
    params: FileParams,
    responses: { 200: { description: 'The file.', contentType: 'text/javascript', schema: Type.String() } },
    errors: ['not_found'],
    handle({ params, headers }) {
      const found = bundle.file(params.file);
      if (found === undefined) throw new DomainError('not_found', 'Console file not found; reload the page');
      const zipped = new Negotiator({ headers }).encoding(['gzip', 'identity']) === 'gzip';
      return {
        status: 200,
        content: zipped ? found.gzipped : found.plain,
        contentType: found.contentType,
        headers: {
          'Cache-Control': CACHED_FOR_EVER,
          'Content-Security-Policy': POLICY,
          Vary: 'Accept-Encoding',
          ...(zipped && { 'Content-Encoding': 'gzip' }),
        },
      };
    },
  });
}
