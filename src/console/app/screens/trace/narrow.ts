import { signal } from '@preact/signals';

const query = matchMedia('(width < 760px)');

/** Whether there is room for one thing beside the other, or only for one at a time. */
export const isNarrow = signal(query.matches);

query.addEventListener('change', () => (isNarrow.value = query.matches));
