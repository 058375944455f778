import { signal } from '@preact/signals';
import type { SignInCredentials, SignInPreview, SignInRequest, WhoAmI } from '../../../features/sign-in/http/schema.js';
import { isReading, withImplied, type Scope } from '../../../engine/identity/scopes.js';
import { ApiError, call, request, signedOut } from './api.js';
import { base, navigate, place } from './location.js';
import { queries } from './query.js';

/** Who is signed in, or was until the server refused it; null: nobody, or it is not known yet. */
export const whoami = signal<WhoAmI | null>(null);

/** Asks who is signed in, and what they may do in the project that is shown. @throws ApiError unless nobody is */
export async function loadWhoAmI(): Promise<void> {
  try {
    const me = await call('GET /whoami');
    keepDraftsOf(me.user.id);
    whoami.value = me;
    signedOut.value = false;
  } catch (error) {
    if (!signedOut.value) throw error;
  }
}

/** Names what this tab keeps: drafts of prompts, answers and opinions. */
const KEPT = 'spanhouse.';
/** Whose drafts they are. */
const WRITER = `${KEPT}writer`;

/** Forgets what somebody else wrote in this tab. A session that ends by itself loses none of it. @param userId empty: nobody any more */
function keepDraftsOf(userId: string): void {
  const writer = sessionStorage.getItem(WRITER) ?? userId;
  if (writer !== userId)
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(KEPT)) sessionStorage.removeItem(key);
  sessionStorage.setItem(WRITER, userId);
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
  const response = await request('/console/session', { method: 'DELETE' });
  queries.clear();
  keepDraftsOf('');
  // The provider of single sign-on has a session of its own.
  if (response.status === 200) {
    location.href = ((await response.json()) as { readonly url: string }).url;
    return;
  }
  whoami.value = null;
  signedOut.value = true;
}

/** What most changes on a screen need; on all others, it is `admin`. */
const CHANGES: Readonly<Record<string, Scope>> = {
  prompts: 'prompts:write',
  playground: 'prompts:write',
  judges: 'judges:write',
  datasets: 'datasets:write',
  experiments: 'datasets:write',
  comparisons: 'datasets:write',
  monitors: 'monitors:write',
  dashboards: 'dashboards:write',
  views: 'dashboards:write',
  review: 'feedback:write',
  links: 'feedback:write',
};

/** Why the signed-in person may not change something of this project; null: they may. @param scope that it needs */
export function refusalOf(scope: Scope = CHANGES[place.value.screen] ?? 'admin'): string | null {
  const me = whoami.value;
  if (me === null || withImplied(me.key.scopes).has(scope)) return null;
  if (me.role !== null && me.role !== 'owner' && me.role !== 'admin') return `Your role ${me.role} lacks ${scope}`;
  return me.key.scopes.every(isReading) ? 'Your API key is read-only' : `Your API key lacks ${scope}`;
}

/** Whether the signed-in person may do what most changes on the screen need. */
export function mayChange(): boolean {
  return refusalOf() === null;
}

/** Takes an invitation as who is signed in, and shows the project. @throws ApiError */
export async function joinProject(code: string): Promise<void> {
  const project = await call('POST /console/session:join', { body: { code } });
  queries.clear();
  navigate(`${base}/console/p/${project.id}`, { replace: true });
  await loadWhoAmI();
}
