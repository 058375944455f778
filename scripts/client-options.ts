import { Option } from 'commander';

export const KEY_VARIABLE = 'SPANHOUSE_KEY';
/** Its name in version 0.1, which counts where the other is not set. */
const OLD_KEY_VARIABLE = 'SPANHOUSE_API_KEY';

/** The option `--key` of clients of a server, or the variable for it. @param description ends without a full stop */
export function keyOption(description: string): Option {
  const option = new Option('--key <key>', description).env(KEY_VARIABLE);
  const old = process.env[OLD_KEY_VARIABLE];
  // The help shows the name in place of the key.
  return old === undefined ? option : option.default(old, OLD_KEY_VARIABLE);
}

/** The option `--url` of clients of a server, or the variable for it. */
export function urlOption(): Option {
  return new Option('--url <url>', 'URL of the server (default: the one that PORT and HOST name)').env('SPANHOUSE_URL');
}
