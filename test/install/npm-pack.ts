import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/engine/files/schema-files.js';

const execute = promisify(execFile);

/** What `npm pack` says of a package. */
export interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/** Runs the npm that runs the tests, where there is one. */
export function npm(args: readonly string[], cwd: string) {
  const running = process.env['npm_execpath'];
  const [command, ...first] = running?.endsWith('npm-cli.js') === true ? [process.execPath, running] : ['npm'];
  return execute(command, [...first, ...args], { cwd, maxBuffer: 2 ** 26 });
}

/** Packs the package into a folder. */
export async function pack(folder: string): Promise<Packed> {
  const { stdout } = await npm(['pack', '--json', '--silent', '--pack-destination', folder], packageRoot());
  const answer = JSON.parse(stdout.slice(stdout.search(/^[[{]$/m))) as object;
  const [packed] = Object.values(answer) as [Packed];
  return packed;
}
