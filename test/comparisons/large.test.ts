import { largeComparison } from './large-comparison.js';

// As many as are allowed are in faults-large.test.ts: sending them takes more than a minute.
largeComparison(10_000);
