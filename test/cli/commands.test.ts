import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { commandNames } from '../../scripts/cli/command-names.js';
import { flagsOf } from '../../scripts/cli/flags.js';
import { spanhouseCommand } from '../../scripts/spanhouse/command.js';
import { apiCalls } from '../../src/http/api-calls.js';
import { span, uuid } from '../harness/checked-api.js';
import { runSpanhouse, type Run } from '../harness/spanhouse-program.js';
import { sharedServer } from '../harness/shared-server.js';
import { makeProject } from '../harness/projects.js';
import type { TestServer } from '../harness/server.js';
import { PROGRAM_ENV } from '../harness/program-files.js';

/** A name that clears the screen, sets the title, hides itself, and turns around what follows. */
const HOSTILE = '\u001b[2J\u001b]0;owned\u0007\u009b31mred\u202e\u2066 \u0000end';
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const NOW = new Date(Date.now() - 60_000).toISOString();
const LONG = 'word '.repeat(4_000);

describe('the commands of calls', function () {
  this.timeout(60_000);
  let server: TestServer;
  let folder: string;

  const cli = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Run> =>
    runSpanhouse(args, {
      cwd: folder,
      env: { ...PROGRAM_ENV, SPANHOUSE_URL: server.url, SPANHOUSE_KEY: server.key, ...env },
    });
  const jsonl = (text: string) => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));

  before(async () => {
    server = await sharedServer();
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-cli-'));
    const spans = Array.from({ length: 120 }, (_, index) => span(index, { started_at: NOW, cost: index / 1_000 }));
    const failed = {
      ...{
        started_at: NOW,
        name: HOSTILE,
        kind: 'tool',
        input_data: LONG,
        output_data: HOSTILE,
        session_id: uuid(900),
      },
      ...{ error_code: HOSTILE, error_message: HOSTILE, tags: { user: 'ada, the first', note: HOSTILE } },
    };
    const body = [
      ...spans,
      span(500, failed),
      span(501, { ...failed, trace_id: uuid(1_000_500), parent_span_id: uuid(500) }),
    ];
    expect((await server.request('POST', '/spans', { body })).status).to.equal(200);
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await server.dispose();
  });

  it('are as many as calls that read, each with a name of its own, and help for each flag', async () => {
    const calls = [...apiCalls().values()].filter(({ method }) => method === 'GET');
    const names = commandNames(calls);
    expect(new Set(names.values()).size).to.equal(calls.length);
    for (const [id, name] of Object.entries({
      listTraces: 'traces',
      getTrace: 'trace',
      getSpansStatistics: 'spans:stats',
      exportSpans: 'spans:export',
      getPromptVersionStatistics: 'prompt-versions:stats',
      explainCost: 'explain-cost',
      whoAmI: 'whoami',
    }))
      expect(names.get(id)).to.equal(name);
    const program = await spanhouseCommand();
    const overview = program.helpInformation();
    for (const call of calls) {
      const name = names.get(call.id) ?? '';
      expect(overview).to.match(new RegExp(`^ {2}${name} `, 'm'));
      const help = program.commands.find((command) => command.name() === name)?.helpInformation() ?? '';
      expect(help).to.include('--key <key>');
      for (const { options } of flagsOf(call)) for (const { flags } of options) expect(help, name).to.include(flags);
    }
  });

  it('list what filters find, as a table that no text of a span can take over', async () => {
    const { code, stdout, stderr } = await cli([
      'spans',
      '--has-error',
      '--since',
      '1h',
      '--tag',
      'user=ada, the first',
    ]);
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.match(/^ID +NAME +KIND +/);
    expect(stdout).to.include(uuid(500)).and.include('\\u{1b}[2J').and.not.match(CONTROLS);
    expect(stdout.trimEnd().split('\n')).to.have.length(3);
    expect(
      (await cli(['traces', '--no-has-error', '--min-cost', '0.118'])).stdout.trimEnd().split('\n'),
    ).to.have.length(3);
    const none = await cli(['traces', '--search', 'nothing like that']);
    expect(none).to.deep.equal({ code: 0, stdout: '', stderr: 'Nothing matches.\n' });
  });

  it('show a trace with the tree of its spans, and JSON that is what the API answers', async () => {
    const shown = await cli(['trace', uuid(1_000_500)]);
    expect(shown.stdout).to.include(uuid(501)).and.include('characters left out').and.not.match(CONTROLS);
    const { stdout } = await cli(['trace', uuid(1_000_500), '--json']);
    expect(stdout).to.not.match(CONTROLS);
    expect(JSON.parse(stdout)).to.deep.equal((await server.request('GET', `/traces/${uuid(1_000_500)}`)).json);
  });

  it('page through all rows', async () => {
    const { stdout } = await cli(['spans', '--all', '--jsonl', '--fields', 'id,name']);
    expect(stdout).to.not.match(CONTROLS);
    const rows = jsonl(stdout);
    expect(new Set(rows.map(({ id }) => id as string)).size).to.equal(122);
    expect(rows.find(({ id }) => id === uuid(500)).name).to.equal(
      (await server.request('GET', `/spans/${uuid(500)}`)).json.name,
    );
    expect(jsonl((await cli(['traces', '--limit', '7', '--jsonl'])).stdout)).to.have.length(7);
    expect(JSON.parse((await cli(['traces', '--json'])).stdout)).to.have.length(50);
  });

  it('write an export to a file, whose ending is its format', async () => {
    const { code, stderr } = await cli(['spans:export', '--has-error', '--out', 'errors.jsonl']);
    expect([code, stderr]).to.deep.equal([0, 'Written to errors.jsonl\n']);
    const rows = jsonl(readFileSync(join(folder, 'errors.jsonl'), 'utf8'));
    expect(rows.map(({ id }) => id as string).sort()).to.deep.equal([uuid(500), uuid(501)]);
    const refused = await cli(['spans:export', '--out', 'never.csv', '--started-after', 'x']);
    expect(refused.code).to.equal(1);
    expect(await readdir(folder)).to.deep.equal(['errors.jsonl']);
  });

  it('say what is wrong and what to do, with an exit code for each kind', async () => {
    const stranger = makeProject(server.dataDir).key;
    const cases: readonly [args: readonly string[], env: Record<string, string>, code: number, said: RegExp][] = [
      [['traces', '--min-cost', 'much'], {}, 1, /^--cost-min must be a number\nAdd --help/],
      [['traces', '--sort', 'cost'], {}, 2, /unknown option '--sort'/],
      [['spans', '--tag', 'ada'], {}, 2, /--tags must be name=value/],
      [['traces'], { SPANHOUSE_KEY: 'sk_sh_none' }, 3, /Give a valid key with --key or SPANHOUSE_KEY/],
      [['trace', uuid(1_000_500)], { SPANHOUSE_KEY: stranger }, 4, /^There is no trace with this id/],
      [['whoami'], { SPANHOUSE_URL: 'http://127.0.0.1:1' }, 5, /does not answer/],
    ];
    const runs = await Promise.all(cases.map(([args, env]) => cli(args, env)));
    for (const [index, { code, stdout, stderr }] of runs.entries()) {
      expect([code, stdout], stderr).to.deep.equal([cases[index]?.[2], '']);
      expect(stderr).to.match(cases[index]?.[3] ?? /never/);
    }
    const { stderr } = await cli(['traces', '--json', '--limit', '5', '--has-error', '--cost-min', 'x']);
    expect(JSON.parse(stderr).error).to.include({
      code: 'refused',
      status: 422,
      detail: '--cost-min must be a number',
    });
  });

  it('follow what arrives', async () => {
    const running = runSpanhouse(['spans:tail', '--span-kind', 'tool', '--jsonl'], {
      env: { ...PROGRAM_ENV, SPANHOUSE_URL: server.url, SPANHOUSE_KEY: server.key },
      interruptAt: '"name":"arrived"',
    });
    const sent = setInterval(() => {
      void server.request('POST', '/spans', { body: [span(700, { started_at: NOW, name: 'arrived', kind: 'tool' })] });
    }, 200);
    try {
      expect(jsonl((await running).stdout)[0]).to.include({ id: uuid(700), kind: 'tool' });
    } finally {
      clearInterval(sent);
    }
  });
});
