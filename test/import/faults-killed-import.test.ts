import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deaths, KILLS } from '../harness/kills.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { figuresOf, ImportFolder } from './importing.js';
import { runImportProgram } from './import-program.js';
import { KEYS, madeProject, OldLangfuse } from './old-langfuse.js';

/** Fewer by hand, as `IMPORT_TRACES=2500 npm test -- test/import/faults-killed-import.test.ts`. */
const TRACES = Number(process.env['IMPORT_TRACES'] ?? 34_000);
/** Of each a span, and three of its observations: more than 100,000 of these. */
const SPANS = 4 * TRACES;
const COST = 0.0125 * TRACES;
/** Pages that an import reads before it is killed. */
const REQUESTS = Math.round(TRACES / 225);
const LIMIT_MB = 400;

describe('a large import from Langfuse that is killed again and again', function () {
  this.timeout(1_800_000);
  let old: OldLangfuse;
  let server: TestServer;
  let folder: ImportFolder;
  before(async () => {
    [old, server, folder] = [
      await OldLangfuse.start(madeProject(TRACES)),
      await bootServer(),
      await ImportFolder.make(),
    ];
  });
  after(async () => {
    await folder?.remove();
    await server?.dispose();
    await old?.stop();
  });

  it('ends with the same counts and costs, in bounded memory', async () => {
    const args = ['--from', 'langfuse', '--source-url', old.url, '--state', folder.state, '--json'];
    const env = {
      ...{ SPANHOUSE_URL: server.url, SPANHOUSE_KEY: server.key, NODE_OPTIONS: `--max-old-space-size=${LIMIT_MB}` },
      ...{ LANGFUSE_PUBLIC_KEY: KEYS.publicKey, LANGFUSE_SECRET_KEY: KEYS.secretKey },
    };
    const deaths = new Deaths('imports');
    for (let kill = 0; kill < KILLS; kill++) {
      const before = old.requests;
      const ended = runImportProgram(args, env, (child) => {
        void (async () => {
          while (old.requests < before + REQUESTS && child.exitCode === null) await sleep(50);
          child.kill('SIGKILL');
        })();
      });
      deaths.add((await ended).code === null);
    }
    const began = performance.now();
    const { code, stdout, stderr } = await runImportProgram(args, env);
    expect(code, stderr + stdout).to.equal(1);
    const report = JSON.parse(stdout);
    expect(
      report.compared.every(({ same }: { same: boolean }) => same),
      stdout,
    ).to.equal(true);
    expect(report.tally).to.include({ spans: SPANS, scores: 3 * TRACES });
    const { count, cost } = await figuresOf(server);
    expect(count).to.equal(SPANS);
    expect(cost).to.be.closeTo(COST, 0.005);
    deaths.report(`; the rest took ${Math.round((performance.now() - began) / 1000)} s`);
  });
});
