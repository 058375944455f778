import { largeComparison } from './large-comparison.js';

largeComparison(100_000);
