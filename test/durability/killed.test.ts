import { killedUnderLoad } from './killed-under-load.js';

// More rounds are in faults-killed.test.ts.
killedUnderLoad(3);
