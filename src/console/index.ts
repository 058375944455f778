import { Type } from '@sinclair/typebox';
import { basePath } from '../http/base-path.js';
import { defineRoute } from '../http/route.js';
import { consoleAssetRoute } from './assets.js';
import { readBundle } from './bundle.js';
import type { ShareAdmission } from '../features/sharing/pages/admission.js';
import { consolePage, pageHeaders } from './page.js';
import { sharedPageRoute } from './shared-page.js';

export interface ConsoleParts {
  /** Base of the URLs handed out, without a slash at its end. */
  readonly baseUrl: () => string;
  /** Origin of the images that are not served here, but from a bucket; null: there is none. */
  readonly imageOrigin: string | null;
  /** Path where single sign-on begins; null: there is none. */
  readonly singleSignOn: () => string | null;
  /** Who may open a shared trace. */
  readonly sharing: ShareAdmission;
}

const ScreenParams = Type.Object({ screen: Type.String({ description: 'What the console shows.' }) });

/** The console: one page at every path below `/console`, and its files. */
export function consoleRoutes({ baseUrl, imageOrigin, singleSignOn, sharing }: ConsoleParts) {
  const bundle = readBundle();
  const headers = pageHeaders(bundle, imageOrigin);
  const shared = {
    method: 'GET',
    summary: 'The console',
    description: 'A page that shows in a browser what this interface has. Signing in: see `POST /console/session`.',
    tag: 'Operations',
    access: 'public',
    responses: {
      200: { description: 'The page.', contentType: 'text/html', schema: Type.String({ description: 'HTML.' }) },
    },
    errors: [],
    handle: () => ({
      status: 200,
      content: consolePage(basePath(baseUrl()), bundle, singleSignOn()),
      contentType: 'text/html; charset=utf-8',
      headers,
    }),
  } as const;
  return [
    defineRoute({ ...shared, path: '/console', operationId: 'getConsole' }),
    defineRoute({
      ...shared,
      path: '/console/:screen+',
      operationId: 'getConsoleScreen',
      hidden: true,
      params: ScreenParams,
    }),
    consoleAssetRoute(bundle),
    sharedPageRoute({ bundle, baseUrl, admission: sharing }),
  ];
}
