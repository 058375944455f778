import { useEffect, useState } from 'preact/hooks';
import { Failure, Skeleton } from '../parts/states.js';
import { request, signedOut } from '../state/api.js';
import { addressOf } from '../../model/place.js';
import { codeOf } from '../../model/sign-in-link.js';
import { base, navigate, place } from '../state/location.js';
import { useAgain } from '../state/query.js';
import { loadWhoAmI, whoami } from '../state/session.js';
import { Frame } from './frame.js';
import { ScreenShown } from './screen-shown.js';
import { SCREENS } from './screens.js';
import type { SignIn } from './sign-in.js';

/** The code in the address, which it is taken out of: it works once, and stays neither there nor in the history. */
function takeCode(): string | null {
  const code = codeOf(window.location.hash);
  if (code !== null) history.replaceState(null, '', window.location.pathname + window.location.search);
  return code;
}

/** The whole console: the sign-in, or the frame with the screen that the address names. */
export function Console() {
  const [failure, setFailure] = useState<unknown>(null);
  /** Of a link that signs in, in the address or pasted. */
  const [code, setCode] = useState(() => codeOf(window.location.hash));
  const load = () => {
    loadWhoAmI().then(() => setFailure(null), setFailure);
  };
  const mustSignIn = code !== null || signedOut.value;
  const [Shown, setShown] = useState<typeof SignIn | null>(null);
  useEffect(() => {
    if (mustSignIn) import('./sign-in.js').then((chunk) => setShown(() => chunk.SignIn), setFailure);
  }, [mustSignIn]);
  // A script that failed once is never loaded again by the same page.
  const again = () => {
    if (mustSignIn && Shown === null) void request('/healthz').then(() => location.reload(), setFailure);
    else load();
  };
  useAgain(failure, again);
  const me = whoami.value;
  const { project, screen, id } = place.value;
  useEffect(() => {
    takeCode();
    if (code === null) load();
    // A link pasted into the address bar of an open console loads nothing.
    const look = () => setCode((before) => takeCode() ?? before);
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, []);
  // What one may do depends on the project.
  useEffect(() => {
    if (me !== null && project !== null && project !== me.project.id) load();
  }, [project]);
  useEffect(() => {
    if (me === null || (project !== null && screen !== '')) return;
    const shown = {
      project: project ?? me.project.id,
      screen: SCREENS[0]?.name ?? '',
      id: null,
      query: new URLSearchParams(),
    };
    navigate(addressOf(base, shown), { replace: true });
  }, [me, project, screen]);
  const answered = () => {
    setCode(null);
    if (me === null) load();
  };
  if (mustSignIn && Shown !== null) return <Shown code={code} onLink={setCode} onDone={answered} />;
  if (failure !== null)
    return (
      <main class="sign-in">
        <Failure error={failure} retry={again} />
        <p>
          <a href={`${base}/console`}>Go to one of your projects</a>
        </p>
      </main>
    );
  if (mustSignIn || me === null || project === null) return <Skeleton rows={1} />;
  return (
    <Frame me={me}>
      <ScreenShown key={`${project} ${screen} ${id === null}`} name={screen} id={id} />
    </Frame>
  );
}
