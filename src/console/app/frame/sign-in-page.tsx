import type { ComponentChildren } from 'preact';
import { Failure } from '../parts/states.js';

interface PageProps {
  readonly failure?: unknown;
  /** Shown until something fails. */
  readonly before?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The frame of all that is shown to whoever is to sign in. */
export function SignInPage({ failure = null, before, children }: PageProps) {
  return (
    <main class="sign-in" id="main">
      <h1>Sign in to Spanhouse</h1>
      {failure === null ? before : <Failure error={failure} />}
      {children}
    </main>
  );
}
