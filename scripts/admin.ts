/** `npm run admin`, in a checkout. */
import { adminCommand } from './admin/command.js';

await adminCommand('npm run admin --').parseAsync();
