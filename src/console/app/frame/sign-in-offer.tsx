import { useEffect, useState } from 'preact/hooks';
import type { SignInPreview } from '../../../features/sign-in/http/schema.js';
import { Button } from '../parts/button.js';
import { Skeleton } from '../parts/states.js';
import { VisibleText } from '../parts/visible-text.js';
import { ApiError } from '../state/api.js';
import { joinProject, previewSignIn, signIn } from '../state/session.js';
import { SignInPage } from './sign-in-page.js';

const MAX_PROJECTS = 5;

interface OfferProps {
  readonly code: string;
  /** Called once someone has signed in by it, or will not. */
  readonly onDone: () => void;
}

/** A link that signs in asks first, as whom: whoever made it must not make a person act as someone else unnoticed. */
export function SignInOffer({ code, onDone }: OfferProps) {
  const [preview, setPreview] = useState<SignInPreview | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const ask = () => previewSignIn({ code }).then(setPreview, setFailure);
  useEffect(() => void ask(), []);
  const confirm = async (replace: boolean) => {
    setBusy(true);
    setFailure(null);
    try {
      await signIn({ code, replace });
      onDone();
    } catch (error) {
      setFailure(error);
      // Someone else has signed in in another tab: the question is another one now.
      if (error instanceof ApiError && error.status === 409) await ask();
    }
    setBusy(false);
  };
  const join = async () => {
    setBusy(true);
    setFailure(null);
    try {
      await joinProject(code);
      onDone();
    } catch (error) {
      setFailure(error);
    }
    setBusy(false);
  };
  return (
    <SignInPage failure={failure}>
      {preview !== null && (
        <Question preview={preview} busy={busy} onConfirm={confirm} onJoin={join} onCancel={onDone} />
      )}
      {preview === null && failure === null && <Skeleton rows={2} />}
      {preview === null && failure !== null && (
        <div class="line">
          <Button look="main" onClick={leave}>
            Continue without the link
          </Button>
        </div>
      )}
    </SignInPage>
  );
}

/** Back to what the browser shows without the link. */
const leave = () => window.location.reload();

interface QuestionProps {
  readonly preview: SignInPreview;
  readonly busy: boolean;
  readonly onConfirm: (replace: boolean) => Promise<void>;
  /** Takes an invitation as who is signed in. */
  readonly onJoin: () => Promise<void>;
  readonly onCancel: () => void;
}

function Question({ preview, busy, onConfirm, onJoin, onCancel }: QuestionProps) {
  const { user, current, joinable } = preview;
  const other = current !== null && current.id !== user.id ? current : null;
  return (
    <div class="card stack">
      <Described preview={preview} />
      {other !== null && (
        <p>
          You are signed in as <Name text={other.name} />. Signing in as <Name text={user.name} /> ends that session.
        </p>
      )}
      <p class="soft">Continue only if this link is meant for you: everything you do is recorded under this name.</p>
      <div class="line">
        {other !== null && joinable && (
          <Button look="main" busy={busy} onClick={() => void onJoin()}>
            <span class="clip">
              Join as <VisibleText text={other.name} />
            </span>
          </Button>
        )}
        {other !== null && (
          <Button look={joinable ? '' : 'main'} onClick={leave}>
            Stay signed in
          </Button>
        )}
        <Button look={other === null ? 'main' : ''} busy={busy} onClick={() => void onConfirm(other !== null)}>
          <span class="clip">
            Sign in as <VisibleText text={user.name} />
          </span>
        </Button>
        {other === null && <Button onClick={current === null ? onCancel : leave}>Cancel</Button>}
      </div>
    </div>
  );
}

function Described({ preview: { user, projects } }: { readonly preview: SignInPreview }) {
  const shown = projects.slice(0, MAX_PROJECTS);
  return (
    <>
      <p>
        This link signs you in on this browser as <Name text={user.name} />, with access to:
      </p>
      <ul>
        {shown.map(({ id, name, access, role }) => (
          <li key={id}>
            <VisibleText text={name} />{' '}
            <span class="soft">({access === 'read' ? 'read-only' : (role ?? `${access} access`)})</span>
          </li>
        ))}
        {projects.length > shown.length && <li>{projects.length - shown.length} more projects</li>}
      </ul>
    </>
  );
}

const Name = ({ text }: { readonly text: string }) => (
  <b>
    <VisibleText text={text} />
  </b>
);
