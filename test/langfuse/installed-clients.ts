import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const PACKAGES = [
  'langfuse@3.39.2',
  ...['@langfuse/tracing@5.11.1', '@langfuse/otel@5.11.1', '@langfuse/client@5.11.1'],
  ...['@opentelemetry/api@1', '@opentelemetry/sdk-node@0.202'],
];
/** Kept for the next run: to install them takes seconds, and needs the registry. Their OpenTelemetry is older than ours. */
export const FOLDER = join(tmpdir(), 'spanhouse-test-langfuse-3.39.2-5.11.1');

const execute = promisify(execFile);

/** Whether the clients are there; they are installed where they are not. */
export async function isInstalled(): Promise<boolean> {
  const works = () =>
    execute(
      process.execPath,
      ['-e', 'for (const p of ["langfuse", "@langfuse/otel", "@langfuse/client"]) require(p)'],
      {
        cwd: FOLDER,
      },
    ).then(
      () => true,
      () => false,
    );
  await mkdir(FOLDER, { recursive: true });
  if (await works()) return true;
  try {
    await writeFile(join(FOLDER, 'package.json'), '{"private":true}');
    await execute('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...PACKAGES], {
      ...{ cwd: FOLDER, timeout: 120_000 },
    });
  } catch {
    return false;
  }
  return works();
}
