import { useState } from 'preact/hooks';
import { codeOf } from '../../model/sign-in-link.js';
import { Button } from '../parts/button.js';
import { Field } from '../parts/field.js';
import { Icon } from '../parts/icon.js';
import { ApiError } from '../state/api.js';
import { signIn, whoami } from '../state/session.js';
import { SignInPage } from './sign-in-page.js';

interface SignInFormProps {
  /** Called with the code of a pasted link. */
  readonly onLink: (code: string) => void;
}

/** Signing in by an API key, or by a link pasted in its place. */
export function SignInForm({ onLink }: SignInFormProps) {
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [entered, setEntered] = useState('');
  const start = document.querySelector<HTMLMetaElement>('meta[name=spanhouse-sso]')?.content;
  const isTaken = failure instanceof ApiError && failure.status === 409;
  const send = async () => {
    const code = codeOf(entered);
    if (code !== null) {
      onLink(code);
      return;
    }
    setBusy(true);
    setFailure(null);
    try {
      await signIn({ key: entered.trim(), replace: isTaken });
    } catch (error) {
      setFailure(error);
    }
    setBusy(false);
  };
  const change = (text: string) => {
    setEntered(text);
    setFailure(null);
  };
  return (
    <SignInPage failure={failure} before={whoami.value !== null && <Ended />}>
      <form
        class="card stack"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <Field label="API key or sign-in link" hint="Sent to this server once; your browser does not store it.">
          <input
            class="input"
            type="password"
            autocomplete="off"
            required
            value={entered}
            onInput={(event) => change(event.currentTarget.value)}
          />
        </Field>
        <div class="line">
          <Button type="submit" look="main" busy={busy}>
            {isTaken ? 'Sign in instead' : 'Sign in'}
          </Button>
          {isTaken && <Button onClick={() => window.location.reload()}>Stay signed in</Button>}
        </div>
      </form>
      {start !== undefined && (
        <p>
          <a class="button main" href={start}>
            Sign in with single sign-on
          </a>
        </p>
      )}
      <p class="soft">
        No key? Run <code>npm run admin -- signin</code> on the server, then open the printed link or paste it here.
      </p>
    </SignInPage>
  );
}

function Ended() {
  return (
    <p class="line" role="status">
      <Icon name="warning" /> Your session has ended: its key was revoked, the session was ended, or it expired. Sign in
      again to continue where you left off.
    </p>
  );
}
