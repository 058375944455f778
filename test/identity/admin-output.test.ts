import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { fieldsOf, jsonOf, printable, printableLines, tableOf } from '../../scripts/output.js';
import { freshDataDir } from '../harness/fresh-directory.js';
import { bootServer } from '../harness/server.js';
import { bootTarget, fill, inFolder } from '../transfer/moved-project.js';
import { programFile } from '../harness/program-files.js';

const run = promisify(execFile);
const program = programFile('admin');

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

async function admin(dataDir: string, ...args: string[]): Promise<Printed> {
  return run(process.execPath, [program, '--data-dir', dataDir, ...args]).catch((failed: unknown) => failed as Printed);
}

/** What a terminal would take for a command, or for a mark of direction. */
const TAKEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
/** Sets the title, clears the screen (twice: with ESC, and with the one character that means the same), reorders. */
const HOSTILE = 'a\u001b]0;mine\u0007\u001b[2J\u009b2J\u202eb';

describe('what the admin program prints', function () {
  this.timeout(60_000);
  let dataDir: string;
  before(async () => (dataDir = await freshDataDir('spanhouse-printed-')));
  after(() => rm(dataDir, { recursive: true, force: true }));

  it('of a list without rows: a sentence for people, and an empty array for programs', async () => {
    await admin(dataDir, 'create-user', 'Ann');
    for (const [command, what] of [
      ['list-projects', 'project'],
      ['list-keys', 'key'],
    ] as const) {
      expect(await admin(dataDir, command)).to.deep.equal({
        stdout: '',
        stderr: `There is no ${what} yet: create one with create-${what}\n`,
      });
      expect(await admin(dataDir, command, '--json')).to.deep.equal({ stdout: '[]\n', stderr: '' });
    }
  });

  it('is a table of aligned columns without index, frame and quotes, whatever names hold', async () => {
    const names = ['Plain', 'two words', '漢字', 'é', HOSTILE];
    const ids = names.map((_, index) => `0197f3a0-0000-7000-8000-00000000010${index}`);
    for (const [index, name] of names.entries())
      expect((await admin(dataDir, 'create-project', name, '--id', ids[index] ?? '')).stdout).not.to.match(TAKEN);
    const { stdout, stderr } = await admin(dataDir, 'list-projects');
    expect(stderr).to.equal('');
    expect(stdout).not.to.match(TAKEN);
    const [head, ...lines] = stdout.trimEnd().split('\n');
    expect(head).to.match(/^ID {36}NAME +CREATED_AT +RETENTION_DAYS$/);
    expect(lines).to.have.length(names.length);
    // `漢字` takes four columns of a terminal, and two of the text.
    const starts = lines.map((line) => line.search(/\d{4}-\d\d-\d\dT/) + (line.includes('漢字') ? 2 : 0));
    expect(starts).to.deep.equal(lines.map(() => head?.indexOf('CREATED_AT')));
    for (const [index, line] of lines.entries()) {
      const [id, name, created, retention] = line.split(/ {2,}/);
      expect([id, name, retention]).to.deep.equal([ids[index], printable(names[index] ?? ''), '-']);
      expect(Date.parse(created ?? '')).to.be.closeTo(Date.now(), 60_000);
    }
  });

  it('is JSON with the very names, before and behind the command', async () => {
    for (const args of [
      ['--json', 'list-projects'],
      ['list-projects', '--json'],
    ]) {
      const { stdout } = await admin(dataDir, ...args);
      expect(stdout).not.to.match(TAKEN);
      const projects = JSON.parse(stdout) as { name: string }[];
      expect(projects.map(({ name }) => name)).to.deep.equal(['Plain', 'two words', '漢字', 'é', HOSTILE]);
    }
    for (const command of ['list-keys', 'export'])
      expect((await admin(dataDir, command, '--help')).stdout, command).to.match(/--json +print JSON/);
  });

  it('says of a failure nothing that a terminal takes for a command', async () => {
    const { stderr } = await admin(dataDir, 'signin', '--user', HOSTILE);
    expect(stderr).to.include('There is no user a\\u{1b}]0;mine').and.not.match(TAKEN);
  });

  it('of an export and an import is plain, too', async () => {
    const [source, target] = [await bootServer(), await bootTarget()];
    try {
      await fill(source);
      await inFolder(async (file) => {
        const at = (server: typeof source) => ['--url', server.url, '--key', server.key];
        const out = await admin(dataDir, 'export', source.projectId, file('a.ndjson'), ...at(source));
        expect(out.stdout, out.stderr).to.match(/^PART +RECORDS\n(\w+ +\d+\n)+$/);
        const back = await admin(dataDir, 'import', file('a.ndjson'), ...at(target));
        expect(back.stdout, back.stderr).to.match(/^PART +IN THE FILE +STORED +UNCHANGED\n(\w+ +\d+ +\d+ +\d+\n)+All/);
      });
    } finally {
      await source.dispose();
      await target.dispose();
    }
  });
});

describe('tables for a terminal', () => {
  it('have a column of every field of any row, numbers to the right and a dash for what is missing', () => {
    const rows = [
      { id: 'a', spans: 12, images: 3 },
      { id: 'long one', problem: 'cut off', images: 'in the bucket' },
      { id: '', spans: 0, images: null },
    ];
    expect(tableOf(rows.slice(0, 1))).to.equal('ID  SPANS  IMAGES\na      12       3\n');
    expect(tableOf(rows)).to.equal(
      [
        'ID        SPANS  IMAGES         PROBLEM',
        'a         12     3              -',
        'long one  -      in the bucket  cut off',
        '-         0      -              -',
        '',
      ].join('\n'),
    );
  });

  it('keep a row on its line, and a field on its', () => {
    expect(tableOf([{ name: 'a\r\nkey  forged' }])).to.equal('NAME\na\\u{d}\\u{a}key  forged\n');
    expect(fieldsOf({ name: 'a\nkey', id: null })).to.equal('name  a\\u{a}key\nid    -\n');
    expect(printableLines('one\n\u001btwo')).to.equal('one\n\\u{1b}two');
  });

  it('leave words as they are written', () => {
    const words = 'naïve 漢字 مرحبا می\u200cخواهم 👩\u200d👧 €';
    expect(printable(words)).to.equal(words);
    expect(printable('\ud800')).to.equal('\ufffd');
    expect(jsonOf({ a: [words, '\u{e0041}\u0085\u2028\n'] })).to.equal(
      `{\n  "a": [\n    "${words}",\n    "\\udb40\\udc41\\u0085\\u2028\\n"\n  ]\n}\n`,
    );
  });
});
