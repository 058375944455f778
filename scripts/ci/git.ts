import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** The code that is tried, as far as it is known. */
export interface Code {
  readonly commit?: string;
  readonly branch?: string;
  readonly dirty?: boolean;
  /** The run of CI. */
  readonly url?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What git and CI say of the code in this folder. */
export async function codeHere(env: Environment = process.env): Promise<Code> {
  const [commit, head, changes] = await Promise.all([
    git('rev-parse', 'HEAD'),
    git('rev-parse', '--abbrev-ref', 'HEAD'),
    git('status', '--porcelain', '--untracked-files=no'),
  ]);
  // CI checks out a commit, and knows of which branch.
  const branch = env['GITHUB_HEAD_REF'] || env['GITHUB_REF_NAME'] || env['CI_COMMIT_REF_NAME'] || onBranch(head);
  const url = buildUrl(env);
  return {
    ...(commit !== null && { commit }),
    ...(branch !== undefined && { branch }),
    ...(changes !== null && { dirty: changes !== '' }),
    ...(url !== undefined && { url }),
  };
}

const onBranch = (head: string | null) => (head === null || head === 'HEAD' ? undefined : head);

function buildUrl(env: Environment): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = env;
  if (server !== undefined && repository !== undefined && run !== undefined)
    return `${server}/${repository}/actions/runs/${run}`;
  return env['CI_JOB_URL'];
}

/** Null where there is no git, no repository or no commit. */
async function git(...args: readonly string[]): Promise<string | null> {
  try {
    return (await execute('git', args)).stdout.trim();
  } catch {
    return null;
  }
}
