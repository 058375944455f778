import { signal } from '@preact/signals';
import type { SignInCredentials, SignInPreview, SignInRequest, WhoAmI } from '../../../features/sign-in/http/schema.js';
import { isReading } from '../../../engine/identity/scopes.js';
import { ApiError, call, request, signedOut } from './api.js';
import { base, navigate } from './location.js';
import { queries } from './query.js';

/** Who is signed in, or was until the server refused it; null: nobody, or it is not known yet. */
export const whoami = signal<WhoAmI | null>(null);

/** Asks who is signed in, and what they may do in the project that is shown. @throws ApiError unless nobody is */
export async function loadWhoAmI(): Promise<void> {
  try {
    whoami.value = await call('GET /whoami');
    signedOut.value = false;
  } catch (error) {
    if (!signedOut.value) throw error;
  }
}

/** Whom credentials sign in, and who is signed in now. @throws ApiError */
export function previewSignIn(credentials: SignInCredentials): Promise<SignInPreview> {
  return call('POST /console/session:preview', { body: credentials });
}

/** @throws ApiError with status 409 when another user is signed in, whom it does not say to replace */
export async function signIn(proof: SignInRequest): Promise<void> {
  await request('/console/session', { method: 'POST', body: proof });
  queries.clear();
  try {
    await loadWhoAmI();
  } catch (error) {
    // The project that was shown is none of theirs.
    if (!(error instanceof ApiError && error.status === 403)) throw error;
    navigate(`${base}/console`, { replace: true });
    await loadWhoAmI();
  }
}

export async function signOut(): Promise<void> {
  await request('/console/session', { method: 'DELETE' });
  queries.clear();
  whoami.value = null;
  signedOut.value = true;
}

/** Whether the signed-in person may change things in this project, or only look. */
export function mayChange(): boolean {
  const scopes = whoami.value?.key.scopes;
  return scopes === undefined || !scopes.every(isReading);
}
