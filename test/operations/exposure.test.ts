import { expect } from 'chai';
import { warnOfExposure } from '../../src/compose/exposure.js';
import { loadConfig } from '../../src/config/config.js';
import type { LogFields } from '../../src/engine/signals/logger.js';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { Program } from '../harness/program.js';
import { until } from '../harness/until.js';
import { createMetrics } from '../../src/engine/signals/metrics.js';
import { createSignals } from '../../src/engine/signals/signals.js';

type Environment = Readonly<Record<string, string>>;

const BOTH = ['openWithoutTls', 'metricsOpen'];
const HTTPS = 'https://spans.example';
const CASES: readonly (readonly [what: string, env: Environment, warnings: readonly string[]])[] = [
  ['nothing by default', {}, []],
  ['nothing on the machine itself, by any of its names', { HOST: 'localhost' }, []],
  ['nothing on another address of the machine itself', { HOST: '127.0.0.2' }, []],
  ['nothing on the machine itself over IPv6', { HOST: '::1' }, []],
  ['nothing behind a proxy on the same machine', { PUBLIC_URL: HTTPS }, []],
  ['all of 0.0.0.0', { HOST: '0.0.0.0' }, BOTH],
  ['all of every IPv6 address', { HOST: '::' }, BOTH],
  ['all of one address of the network', { HOST: '192.0.2.7' }, BOTH],
  ['all of an address with a zone', { HOST: 'fe80::1%eth0' }, BOTH],
  ['all of a name', { HOST: 'spans.lan' }, BOTH],
  ['a name that only looks like the machine itself', { HOST: '127.0.0.1.spans.example' }, BOTH],
  ['a public address without TLS', { HOST: '0.0.0.0', PUBLIC_URL: 'http://spans.example' }, BOTH],
  ['open metrics alone behind TLS', { HOST: '0.0.0.0', PUBLIC_URL: HTTPS }, ['metricsOpen']],
  ['missing TLS alone with a token', { HOST: '0.0.0.0', METRICS_TOKEN: 'token-of-metrics' }, ['openWithoutTls']],
  ['nothing with both', { HOST: '0.0.0.0', PUBLIC_URL: HTTPS, METRICS_TOKEN: 'token-of-metrics' }, []],
  [
    'nothing in a container that is published on the machine itself',
    { HOST: '0.0.0.0', PUBLIC_URL: 'http://127.0.0.1:4318' },
    [],
  ],
  ['all in a container that others are sent to', { HOST: '0.0.0.0', PUBLIC_URL: 'http://192.0.2.7:4318' }, BOTH],
];

describe('the start warns', () => {
  for (const [what, env, expected] of CASES)
    it(`of ${what}`, () => {
      const said: unknown[] = [];
      const note = (_message: string, fields?: LogFields) => void said.push(fields?.['event']);
      const log = { error: note, warn: note, info: note, debug: note, child: () => log };
      warnOfExposure(loadConfig(env), createSignals(log, createMetrics()));
      expect(said).to.deep.equal(expected);
    });

  describe('in what the program prints', function () {
    this.timeout(90_000);
    let dataDir: string;
    before(async () => (dataDir = await freshDataDir('spanhouse-open-')));
    after(() => removeDirectory(dataDir));

    async function printed(env: Environment): Promise<string[]> {
      // Not `start`: what is written for people says no address that a test could ask.
      const program = Program.spawn(dataDir, env);
      try {
        const isReady = () => program.printed.some((line) => line.includes('Spanhouse is ready'));
        await until('the start', () => isReady() || !program.running);
        expect(isReady(), program.stderr).to.equal(true);
        return program.printed.filter((line) => BOTH.some((event) => line.includes(event)));
      } finally {
        await program.destroy();
      }
    }

    it('in one line each, with what to do', async () => {
      const lines = (await printed({ HOST: '0.0.0.0' })).map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines.map(({ level, event, host }) => [level, event, host])).to.deep.equal(
        BOTH.map((event) => ['warn', event, '0.0.0.0']),
      );
      const [tls, metrics] = lines.map(({ action }) => String(action));
      for (const setting of ['TLS', 'PUBLIC_URL', 'TRUSTED_PROXIES']) expect(tls).to.include(setting);
      expect(metrics).to.include('METRICS_TOKEN');
    });

    it('on a terminal, too', async () => {
      const lines = await printed({ HOST: '0.0.0.0', LOG_FORMAT: 'pretty' });
      expect(lines).to.have.length(2);
      for (const line of lines) expect(line).to.match(/ → (Put a TLS-terminating proxy|Set METRICS_TOKEN)/);
    });

    it('not where nobody else comes in', async () => {
      expect(await printed({})).to.deep.equal([]);
    });
  });
});
