import { killedUnderLoad } from './killed-under-load.js';

killedUnderLoad(20);
