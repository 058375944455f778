import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Context } from 'mocha';

const execute = promisify(execFile);
const WITHIN_MS = 300_000;

/** Packages of others, unchanged from their index. */
interface ForeignPackages {
  /** Of the folder, which is kept for the next run: to install them takes half a minute, and needs the index. With their versions. */
  readonly folder: string;
  readonly packages: readonly string[];
  /** Program that only runs where they are there. */
  readonly check: string;
}

/** Skips a suite, and says so, where what it needs cannot be had. To be called before anything else. */
export async function requireInstalled(suite: Context, installed: Promise<boolean>): Promise<void> {
  if (await installed) return;
  suite.test!.parent!.title += ' (skipped: what it needs cannot be installed here)';
  suite.skip();
}

/** An interpreter of Python that has packages once they are installed. */
export function pythonWith({ folder, packages, check }: ForeignPackages) {
  const venv = join(tmpdir(), folder);
  const python = join(venv, 'bin', 'python');
  const works = () => succeeds(execute(python, ['-c', check]));
  const install = async () => {
    await execute('python3', ['-m', 'venv', venv]);
    await execute(python, ['-m', 'pip', 'install', '--quiet', ...packages], { timeout: WITHIN_MS });
  };
  return { python, install: () => installed(works, install) };
}

/** A folder whose programs of Node.js have packages once they are installed. */
export function nodeFolderWith({ folder, packages, check }: ForeignPackages) {
  const cwd = join(tmpdir(), folder);
  const works = () => succeeds(execute(process.execPath, ['--input-type=module', '-e', check], { cwd }));
  const install = async () => {
    await mkdir(cwd, { recursive: true });
    await writeFile(join(cwd, 'package.json'), '{"private":true}');
    const options = ['--no-audit', '--no-fund', '--ignore-scripts'];
    await execute('npm', ['install', ...options, ...packages], { cwd, timeout: WITHIN_MS });
  };
  return { cwd, install: () => installed(works, install) };
}

async function installed(works: () => Promise<boolean>, install: () => Promise<void>): Promise<boolean> {
  return (await works()) || ((await succeeds(install())) && (await works()));
}

const succeeds = (attempt: Promise<unknown>): Promise<boolean> =>
  attempt.then(
    () => true,
    () => false,
  );
