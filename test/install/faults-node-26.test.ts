import { onNode } from './other-node.js';

onNode('26');
