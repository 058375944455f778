import { signal } from '@preact/signals';
import type { WhoAmI } from '../../../../transport/http/routes/sign-in/schema.js';
import { ApiError, call, request, signedOut } from './api.js';
import { queries } from './query.js';

/** Who is signed in, or was until the server refused it; null: nobody, or it is not known yet. */
export const whoami = signal<WhoAmI | null>(null);

/** Asks who is signed in, and what they may do in the project that is shown. @throws ApiError unless nobody is */
export async function loadWhoAmI(): Promise<void> {
  try {
    whoami.value = await call<WhoAmI>('/whoami');
    signedOut.value = false;
  } catch (error) {
    if (!signedOut.value) throw error;
  }
}

/** Whether the browser has a sign-in that counts, to whatever project. */
export async function isSignedIn(): Promise<boolean> {
  const found = await call('/whoami').catch((error: unknown) => error);
  return !(found instanceof ApiError && found.status === 401);
}

/** @throws ApiError */
export async function signIn(proof: { readonly code: string } | { readonly key: string }): Promise<void> {
  await request('/console/session', { method: 'POST', body: proof });
  queries.clear();
  await loadWhoAmI();
}

export async function signOut(): Promise<void> {
  await request('/console/session', { method: 'DELETE' });
  queries.clear();
  whoami.value = null;
  signedOut.value = true;
}

/** Whether the signed-in person may change things in this project, or only look. */
export function mayChange(): boolean {
  return whoami.value?.key.access !== 'read';
}
