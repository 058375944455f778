import { randomHistories } from './random-histories.js';

randomHistories({ histories: 90, interrupted: 10, kills: 5 });
