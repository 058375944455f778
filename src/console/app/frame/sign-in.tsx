import { SignInForm } from './sign-in-form.js';
import { SignInOffer } from './sign-in-offer.js';

interface SignInProps {
  /** Of a link that signs in, in the address or pasted. */
  readonly code: string | null;
  readonly onLink: (code: string) => void;
  /** Called once someone has signed in by the link, or will not. */
  readonly onDone: () => void;
}

/** What is shown to whoever is to sign in, in a chunk of its own: most pages are opened by people who have. */
export function SignIn({ code, onLink, onDone }: SignInProps) {
  return code === null ? <SignInForm onLink={onLink} /> : <SignInOffer key={code} code={code} onDone={onDone} />;
}
