/** `npm run build`, also before a package is made: compiles, without installing anything. */
import { compile } from './bootstrap.mjs';

await compile();
