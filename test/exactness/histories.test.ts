import { randomHistories } from './random-histories.js';

// Each change of the sources tries others; many more are in faults-histories.test.ts.
randomHistories({ histories: 6, interrupted: 1, kills: 1 });
