import { bootServer, type TestServer } from '../harness/server.js';
import { seedOf } from '../harness/seed.js';
import { seeded } from '../http/malformed-requests.js';
import { compare, condition, history } from './histories.js';

const SEED = seedOf('MONITORS_SEED');
const HISTORIES = 10;
const CONDITIONS = 50;

describe(`500 conditions over random histories (MONITORS_SEED=${SEED})`, function () {
  this.timeout(600_000);
  let server: TestServer;
  before(async () => (server = await bootServer()));
  after(() => server.dispose());

  it('would have fired when a recount says so', async () => {
    const spans = [];
    for (let n = 0; n < HISTORIES; n += 1) {
      // What came before counts, too.
      spans.push(...(await history(server, SEED + n * 1000, 60)));
      const random = seeded(SEED + n * 1000 + 1);
      for (let of = 0; of < CONDITIONS; of += 1) await compare(server, spans, condition(random));
    }
  });
});
