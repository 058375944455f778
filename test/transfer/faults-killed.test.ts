import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/random.js';
import { admin, killAdmin, refused } from '../backup/admin.js';
import { MortalServer } from '../durability/mortal-server.js';
import { Deaths, KILLS } from '../harness/kills.js';
import { seedOf } from '../harness/seed.js';
import { changes, until } from '../harness/until.js';

const SEED = seedOf('KILL_SEED');
/** Pages of spans, for a kill to come between them. */
const PAGES = 8;
const PAGE = 1_000;
/** The first kill comes within this time, each later one may come as much later. */
const STEP_MS = 150;

describe(`exports and imports that are killed ${KILLS} times each, KILL_SEED=${SEED}`, function () {
  this.timeout(120_000 + KILLS * 30_000);
  const dice = new Random(SEED);
  let folder: string;
  let file: string;
  let source: MortalServer;
  let target: MortalServer;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-moved-'));
    file = join(folder, 'project.ndjson.gz');
    source = await MortalServer.start({ seed: SEED });
    for (let page = 0; page < PAGES; page += 1) {
      const input_data = 'what was asked '.repeat(20);
      await source.write(Array.from({ length: PAGE }, () => ({ input_data })));
    }
  });
  afterEach(function () {
    if (!this.currentTest?.isFailed()) return;
    for (const server of [source, target]) console.log(server?.program.complaints());
  });
  after(async () => {
    await source?.dispose();
    await target?.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  const at = ({ program: { url, key } }: MortalServer) => ['--url', url, '--key', key];

  it('an export goes on behind the last page, while clients write', async () => {
    const deaths = new Deaths('export');
    const part = `${file}.part`;
    const exporting = () => ['export', source.program.projectId, file, ...at(source)];
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const moment = { begun: changes(`${file}.state`), afterMs: dice.whole(0, kill * STEP_MS) };
      deaths.add(await killAdmin(moment, folder, ...exporting()));
      if (existsSync(file)) await rm(file);
      else
        expect(await refused(folder, 'import', part, ...at(source))).to.match(
          /Run the export again to resume it|is empty/,
        );
    }
    await source.expectExact();
    const { counts } = await admin(folder, ...exporting());
    // Those that were written again come twice, the later one last.
    expect(counts.spans).to.be.at.least(source.spans);
    deaths.report(`; ${counts.spans} records of ${source.spans} spans`);
  });

  it('an import stores each record once, whichever side dies, while clients write there, too', async () => {
    const deaths = new Deaths('import');
    // The same project in another installation: both are counted together.
    target = await MortalServer.start({ seed: SEED + 1, ledger: source.crowd.ledger });
    const importing = () => ['import', file, ...at(target)];
    const notes = `${file}.import-${target.program.projectId}`;
    /** To its end, where it says that clients have written something else as well. */
    const imported = async () => {
      const said = (await refused(folder, ...importing())).split('\n');
      expect(said.filter((line) => line !== '' && !line.startsWith('Import: '))).to.deep.equal([]);
      expect(existsSync(notes), 'notes of an import that is done').to.equal(false);
    };
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const moment = { begun: changes(notes), afterMs: dice.whole(0, kill * STEP_MS) };
      if (kill % 3 === 0) {
        // It waits for the server, and goes on.
        const ending = imported();
        await until('the import begins', moment.begun);
        await sleep(moment.afterMs);
        const inTheMiddle = existsSync(notes);
        await target.kill();
        await target.restart();
        await ending;
        deaths.add(inTheMiddle);
      } else {
        deaths.add(await killAdmin(moment, folder, ...importing()));
      }
    }
    await target.quiet();
    await imported();
    await target.expectExact();
    deaths.report(`; ${target.spans} spans, none lost`);
  });
});
