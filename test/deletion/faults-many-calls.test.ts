import { shownByCalls } from './many-calls.js';

/** As many as no call of a function takes as arguments. */
shownByCalls(130_000);
