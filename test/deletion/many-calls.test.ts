import { shownByCalls } from './many-calls.js';

// More than are noted in one turn; as many as no call of a function takes as arguments are in faults-many-calls.test.ts.
shownByCalls(6_000);
