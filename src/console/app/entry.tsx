import { render } from 'preact';
import { Console } from './frame/console.js';
import { chunkOf } from './frame/screens.js';
import { listenToKeys } from './state/keys.js';
import { followLinks, place, sharedBy } from './state/location.js';

const root = document.getElementById('console');
const by = sharedBy;
if (root !== null && by !== null) {
  listenToKeys();
  void Promise.all([import('./screens/sharing/index.js'), import('./screens/trace/index.js')]).then(
    ([{ Shared }, parts]) => {
      root.replaceChildren();
      render(<Shared by={by} parts={parts} />, root);
    },
  );
} else if (root !== null) {
  root.replaceChildren();
  // It is needed as soon as it is known who is signed in; what fails is told when it is shown.
  chunkOf(place.value.screen, place.value.id)?.catch(() => undefined);
  render(<Console />, root);
  followLinks();
  listenToKeys();
}
