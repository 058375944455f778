import { onNode } from './other-node.js';

// The oldest that it runs on; a newer one than that of all tests: faults-node-26.test.ts.
onNode('22');
