import { useEffect, useState } from 'preact/hooks';
import { Failure, Skeleton } from '../parts/states.js';
import { signedOut } from '../state/api.js';
import { addressOf } from '../../model/place.js';
import { base, navigate, place } from '../state/location.js';
import { useAgain } from '../state/query.js';
import { loadWhoAmI, whoami } from '../state/session.js';
import { Frame } from './frame.js';
import { ScreenShown } from './screen-shown.js';
import { SCREENS } from './screens.js';
import { SignIn } from './sign-in.js';

/** The whole console: the sign-in, or the frame with the screen that the address names. */
export function Console() {
  const [failure, setFailure] = useState<unknown>(null);
  const load = () => {
    loadWhoAmI().then(() => setFailure(null), setFailure);
  };
  useAgain(failure, load);
  const me = whoami.value;
  const { project, screen, id } = place.value;
  // With a code in the address, that is signed in with first: see SignIn.
  useEffect(() => {
    if (!window.location.hash.startsWith('#code=')) load();
    else signedOut.value = true;
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
  if (signedOut.value) return <SignIn />;
  if (failure !== null)
    return (
      <main class="sign-in">
        <Failure error={failure} retry={load} />
        <p>
          <a href={`${base}/console`}>Go to a project that you may see</a>
        </p>
      </main>
    );
  if (me === null || project === null) return <Skeleton rows={1} />;
  return (
    <Frame me={me}>
      <ScreenShown key={`${screen} ${id === null}`} name={screen} id={id} />
    </Frame>
  );
}
