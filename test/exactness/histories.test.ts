import { randomHistories } from './random-histories.js';

// Each change of the sources tries others; three times as many are in faults-histories.test.ts.
randomHistories({ histories: 30, interrupted: 4, kills: 2 });
