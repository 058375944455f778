import { render } from 'preact';
import { Console } from './frame/console.js';
import { chunkOf } from './frame/screens.js';
import { listenToKeys } from './state/keys.js';
import { followLinks, place, sharedBy } from './state/location.js';

const root = document.getElementById('console');
if (root !== null && sharedBy !== null) {
  listenToKeys();
  void Promise.all([import('./screens/sharing/index.js'), import('./screens/trace/index.js')]).then(
    ([{ Shared }, parts]) => {
      root.replaceChildren();
      render(<Shared by={sharedBy} parts={parts} />, root);
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
