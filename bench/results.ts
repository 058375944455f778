import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const resultsFile = `${root}bench/RESULTS.md`;

const HEAD = `# Results

Written by \`npm run bench\`, never by hand. Each section is one run, replaced by the next one of the same name.
Compare figures within a section only: machines differ, and so do their loads.
`;

/** Circumstances of a run, without which its figures mean little. */
export interface RunContext {
  readonly date: string;
  readonly commit: string;
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGb: number;
  /** Load average of the last minute before the run. */
  readonly load: number;
  readonly node: string;
}

export interface BenchSection {
  /** Names the section; a section of the same name is replaced. */
  readonly name: string;
  /** The command that repeats the run. */
  readonly command: string;
  /** Taken with `captureContext()` before the run. */
  readonly context: RunContext;
  /** Version of the engine, as `SELECT version()` answers it. */
  readonly engine: string;
  /** One or two sentences about the measurement and its data. */
  readonly about: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/**
 * Call it before the run, so that the load is not its own.
 * @param measured where what is measured is another checkout or runs on another node: its folder, the program
 */
export function captureContext(measured: { readonly checkout?: string; readonly node?: string } = {}): RunContext {
  const processors = cpus();
  return {
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    commit: currentCommit(measured.checkout ?? root),
    cores: processors.length,
    cpu: processors[0]?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    node: measured.node === undefined ? process.versions.node : versionOf(measured.node),
  };
}

/** Writes or replaces one section of bench/RESULTS.md; the others stay as they are. */
export function writeResults(section: BenchSection, file = resultsFile): void {
  const current = existsSync(file) ? readFileSync(file, 'utf8') : HEAD;
  writeFileSync(file, withSection(current, section));
}

/** The document with this section in it: in its old place, or at the end. */
export function withSection(document: string, section: BenchSection): string {
  const [head = HEAD, ...sections] = document.split(/^(?=## )/m);
  const written = renderSection(section);
  const at = sections.findIndex((old) => old.startsWith(`## ${section.name}\n`));
  const kept = at === -1 ? [...sections, written] : sections.with(at, written);
  return `${[head, ...kept].map((part) => part.trimEnd()).join('\n\n')}\n`;
}

function renderSection({ name, command, context, engine, about, columns, rows }: BenchSection): string {
  const cell = (value: string | number) => String(value).replaceAll('|', '\\|');
  const line = (cells: readonly (string | number)[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [
    `## ${name}`,
    '',
    about,
    '',
    `\`${command}\` · ${context.date} UTC · commit ${context.commit} · ${context.cores} cores (${context.cpu}), ` +
      `${context.memoryGb} GB · load before ${context.load} · Node.js ${context.node} · ClickHouse ${engine}`,
    '',
    line(columns),
    `|${columns.map(() => '---').join('|')}|`,
    ...rows.map(line),
  ].join('\n');
}

/** @throws Error when there is no such program */
function versionOf(node: string): string {
  return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().replace(/^v/, '');
}

function currentCommit(cwd: string): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();
    // What an earlier scene wrote is no change of what is measured.
    const changed = git('status', '--porcelain', '--untracked-files=no', '--', '.', ':!bench/RESULTS.md');
    return `${git('rev-parse', '--short', 'HEAD')}${changed === '' ? '' : ' with changes'}`;
  } catch {
    return 'unknown';
  }
}
