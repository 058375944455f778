import type { SignInService } from '../../../../domain/identity/sign-in-service.js';
import type { Callers } from '../../callers.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import { credentialsOf, type SignInAttempts } from './attempts.js';
import { MAX_BODY_BYTES } from './create-session.js';
import { toSignInPreviewRead } from './presenters.js';
import { SignInCredentials, SignInPreview, TAG } from './schema.js';

export interface PreviewSignInParts {
  readonly signIns: Pick<SignInService, 'preview' | 'userOf'>;
  readonly callers: Pick<Callers, 'session'>;
  readonly attempts: SignInAttempts;
}

export function previewSignInRoute({ signIns, callers, attempts }: PreviewSignInParts): Route {
  return defineRoute({
    method: 'POST',
    path: '/console/session:preview',
    operationId: 'previewSignIn',
    summary: 'Preview a sign-in',
    description:
      'Returns whom a code or an API key would sign in, and who is signed in now, so that a page can ask for ' +
      'confirmation. It does not sign anyone in, and a code still works afterwards. Failed attempts count toward ' +
      'the limit for signing in.',
    tag: TAG,
    access: 'public',
    body: { ...jsonBody(SignInCredentials), maxBytes: MAX_BODY_BYTES },
    responses: { 200: { description: 'Whom the code or key would sign in.', schema: SignInPreview } },
    errors: ['unauthenticated', 'forbidden', 'unavailable'],
    admit: (opening) => attempts.requireOwnPage(opening),
    async handle({ body, headers, remoteAddress }) {
      const credentials = credentialsOf(body);
      const preview = await attempts.try({ headers, remoteAddress }, () => signIns.preview(credentials));
      const session = callers.session(headers);
      return { status: 200, body: toSignInPreviewRead(preview, session && signIns.userOf(session)) };
    },
  });
}
