import { Type } from '@sinclair/typebox';
import { basePath } from '../http/base-path.js';
import { html } from '../http/pages/html.js';
import { defineRoute, type ErrorRenderer, type Route } from '../http/route.js';
import type { ShareAdmission } from '../features/sharing/pages/admission.js';
import { SharedParams } from '../features/sharing/pages/routes.js';
import type { Bundle } from './bundle.js';
import { pageHeaders, sharedTracePage, sharedMessagePage } from './page.js';

export interface SharedPageParts {
  readonly bundle: Bundle;
  /** Base of the URLs handed out, without a slash at its end. */
  readonly baseUrl: () => string;
  readonly admission: ShareAdmission;
}

/** The page of a share link: the trace view of the console alone, for people without an account. */
export function sharedPageRoute({ bundle, baseUrl, admission }: SharedPageParts): Route {
  // Images of the trace come from here.
  const headers = pageHeaders(bundle, null);
  const base = () => basePath(baseUrl());
  const renderError: ErrorRenderer = ({ status, title, detail }, request) => {
    // Programs, which ask for JSON, get the problem.
    if (/json/.test(request.headers.accept ?? '')) return undefined;
    const said = SAID[status] ?? { title, text: detail };
    const main = html`<h1>${said.title}</h1>
      <p>${said.text}</p>`;
    return {
      contentType: 'text/html; charset=utf-8',
      content: sharedMessagePage(base(), bundle, said.title, main.text),
      headers,
    };
  };
  return defineRoute({
    method: 'GET',
    path: '/s/:token',
    operationId: 'getSharedTrace',
    summary: 'The page of a share link',
    description:
      'Shows one trace, read-only, without account or API key. A token that is wrong, expired or revoked, or whose trace was deleted, ' +
      'is answered 404.',
    tag: 'Sharing',
    access: 'public',
    params: SharedParams,
    responses: {
      200: { description: 'The page.', contentType: 'text/html', schema: Type.String({ description: 'HTML.' }) },
    },
    errors: ['not_found', 'overloaded', 'unavailable'],
    renderError,
    admit: (opening) => admission.admit(opening),
    handle: ({ params: { token } }) => ({
      status: 200,
      content: sharedTracePage(base(), bundle, token),
      contentType: 'text/html; charset=utf-8',
      headers,
    }),
  });
}

/** By status, in the words of the people who see it. */
const SAID: Readonly<Record<number, { readonly title: string; readonly text: string }>> = {
  404: {
    title: 'This link does not work',
    text: 'It may be mistyped, expired or revoked, or the trace that it showed was deleted. Ask the person who sent it for a new one.',
  },
  429: { title: 'Too many requests', text: 'Wait a minute, then reload the page.' },
  500: { title: 'Something went wrong', text: 'This is a problem on our side. Try again in a moment.' },
  503: { title: 'Temporarily unavailable', text: 'Try again in a moment.' },
};
