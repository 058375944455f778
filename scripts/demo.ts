/** `npm run demo`, in a checkout. */
import { demoCommand } from './demo/command.js';

await demoCommand('npm run demo --').parseAsync();
