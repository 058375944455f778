import { hrefOf, navigate } from '../state/location.js';
import { tour, tourAsked } from '../state/preferences.js';

/** Shows the tour for newcomers again, done or not, where it stands first. */
export function showTour(): void {
  tour.value = 'shown';
  tourAsked.value = 'now';
  navigate(hrefOf({ screen: 'overview' }));
}
