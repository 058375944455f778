/** `npm start`, in a checkout. */
import { startCommand } from './start/command.js';

await startCommand('npm start --').parseAsync();
