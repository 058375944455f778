import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { Field } from '../parts/field.js';
import { Icon } from '../parts/icon.js';
import { Failure } from '../parts/states.js';
import { isSignedIn, signIn, whoami } from '../state/session.js';

/** Signing in with a code from the address (first start, `npm run admin -- signin`, an invite), or with a pasted key. */
export function SignIn() {
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [key, setKey] = useState('');
  const [offered, setOffered] = useState<string | null>(null);
  const send = async (proof: Parameters<typeof signIn>[0]) => {
    setBusy(true);
    setFailure(null);
    try {
      await signIn(proof);
    } catch (error) {
      setFailure(error);
    }
    setBusy(false);
  };
  useEffect(() => {
    const code = /^#code=([\w-]+)$/.exec(window.location.hash)?.[1];
    if (code === undefined) return;
    // It works once, and is nobody else's business: it stays neither in the address nor in the history.
    history.replaceState(null, '', window.location.pathname + window.location.search);
    // Whoever made the link must not make a person act as somebody else unnoticed.
    void isSignedIn().then((already) => (already ? setOffered(code) : send({ code })));
  }, []);
  if (offered !== null)
    return (
      <Page failure={failure}>
        <div class="card stack">
          <p>
            You are signed in already. The link that you opened ends that, and signs you in as the person for whom it
            was made.
          </p>
          <div class="line">
            <Button look="main" onClick={() => window.location.reload()}>
              Stay signed in
            </Button>
            <Button busy={busy} onClick={() => void send({ code: offered })}>
              Sign in by the link
            </Button>
          </div>
        </div>
      </Page>
    );
  return (
    <Page failure={failure} before={whoami.value !== null && <Ended />}>
      <form
        class="card stack"
        onSubmit={(event) => {
          event.preventDefault();
          void send({ key: key.trim() });
        }}
      >
        <Field label="API key" hint="It is sent to this server once, and not kept in the browser.">
          <input
            class="input"
            type="password"
            autocomplete="off"
            required
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </Field>
        <div class="line">
          <Button type="submit" look="main" busy={busy}>
            Sign in
          </Button>
        </div>
      </form>
      <p class="soft">
        Without a key: run <code>npm run admin -- signin</code> where the server runs, and open the address that it
        prints.
      </p>
    </Page>
  );
}

interface PageProps {
  readonly failure: unknown;
  /** Shown until something fails. */
  readonly before?: ComponentChildren;
  readonly children: ComponentChildren;
}

function Page({ failure, before, children }: PageProps) {
  return (
    <main class="sign-in" id="main">
      <h1>Sign in to Spanhouse</h1>
      {failure === null ? before : <Failure error={failure} />}
      {children}
    </main>
  );
}

function Ended() {
  return (
    <p class="line" role="status">
      <Icon name="warning" /> Your sign-in has ended: its key was revoked, somebody ended it, or it was not used for
      days. Sign in again to go on where you were.
    </p>
  );
}
