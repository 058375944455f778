import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { NODE_FLAGS, NODE_VARIABLES } from '../../scripts/start/node-flags.js';
import { loadConfig } from '../../src/config/config.js';
import { settingDefinitions, settings } from '../../src/config/settings.js';
import { NEEDED_VERSION } from '../../src/engine/traces/external-server.js';
import { composed, environmentOf, readRoot, root, stagesIn, type Instruction } from './compose.js';

const { services, volumes } = composed();
const { spanhouse, clickhouse } = services;
const names = settingDefinitions.map(([name]) => name);
/** What is set for the server because it runs in a container. */
const INSIDE = { HOST: '0.0.0.0', PORT: '4318', DATA_DIR: '/data', PUBLIC_URL: 'http://127.0.0.1:4318' };
const CREDENTIALS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];

const stages = stagesIn(readRoot(spanhouse.build?.dockerfile ?? ''));
const [build = [], final = []] = stages;
const all = (stage: readonly Instruction[], name: string) => stage.filter((instruction) => instruction.name === name);
const copies = (stage: readonly Instruction[]) =>
  all(stage, 'COPY').map(({ words }) => {
    const paths = words.filter((word) => !word.startsWith('--'));
    return {
      from: words.find((word) => word.startsWith('--from=')),
      paths: paths.slice(0, -1),
      to: paths.at(-1) ?? '',
    };
  });
/** The file or folder of this checkout that one of the building stage, such as `/app/dist/src`, is made of. */
const madeOf = (path: string) =>
  path
    .replace(/^\/app\//, '')
    .replace(/^dist\/console$/, 'src/console/app')
    .replace(/^dist\//, '');

describe('docker-compose.yml', () => {
  it('passes every variable of the configuration, and nothing else but credentials of a bucket', () => {
    expect(Object.keys(spanhouse.environment)).to.have.members([...names, ...CREDENTIALS]);
  });

  it('leaves what is not set to the server, but for where it listens and keeps its data', () => {
    expect(loadConfig(environmentOf(spanhouse))).to.deep.equal(loadConfig(INSIDE));
  });

  it('hands on what is set as it is', () => {
    const inside = new Set([...Object.keys(INSIDE), 'OTLP_GRPC_PORT']);
    const variables = Object.fromEntries([...names, ...CREDENTIALS].map((name) => [name, `value of ${name}`]));
    const environment = environmentOf(composed(variables).services.spanhouse, variables);
    for (const name of [...names, ...CREDENTIALS])
      if (!inside.has(name)) expect(environment[name], name).to.equal(`value of ${name}`);
    expect(environment['PUBLIC_URL']).to.equal('value of PUBLIC_URL');
  });

  it('is reached on the ports that are set, from this machine alone', () => {
    expect(spanhouse.ports).to.deep.equal(['127.0.0.1:4318:4318', '127.0.0.1::4317']);
    const set = composed({ PORT: '5000', OTLP_GRPC_PORT: '5001' }).services.spanhouse;
    expect(set.ports).to.deep.equal(['127.0.0.1:5000:4318', '127.0.0.1:5001:4317']);
    const { http, grpcPort } = loadConfig(environmentOf(set));
    expect({ port: http.port, publicUrl: http.publicUrl, grpcPort }).to.deep.equal({
      port: 4318,
      publicUrl: 'http://127.0.0.1:5000',
      grpcPort: 4317,
    });
  });

  it('gives the server more time to stop than it gives itself', () => {
    const seconds = (period: string) =>
      [...period.matchAll(/(\d+)([ms])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * (unit === 'm' ? 60 : 1), 0);
    const { default: usual = 0, maximum = 0 } = settings.properties.SHUTDOWN_TIMEOUT_SECONDS;
    expect(seconds(spanhouse.stop_grace_period)).to.be.greaterThan(usual);
    const longest = composed({ SHUTDOWN_TIMEOUT_SECONDS: String(maximum) }).services.spanhouse.stop_grace_period;
    expect(seconds(longest)).to.be.greaterThan(maximum);
    expect(spanhouse.init).to.equal(true);
  });

  it('keeps data in volumes, where the processes of the containers look for it', () => {
    expect(spanhouse.volumes).to.deep.equal([`data:${INSIDE.DATA_DIR}`]);
    expect(clickhouse.volumes[0]).to.equal('clickhouse:/var/lib/clickhouse');
    expect(Object.keys(volumes)).to.have.members(['data', 'clickhouse', 'prometheus', 'grafana']);
  });

  it('asks whether the server is ready, not only whether it is up', async () => {
    let status = 200;
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url);
      response.writeHead(status).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const health = all(final, 'HEALTHCHECK')[0]?.words.join(' ') ?? '';
    const [command, ...args] = JSON.parse(health.slice(health.indexOf('['))) as string[];
    expect(command).to.equal('node');
    expect(spanhouse.healthcheck).to.equal(undefined);
    const answered = async () => {
      const asking = args.map((arg) => arg.replace(':4318/', `:${port}/`));
      const [code] = (await once(spawn(process.execPath, asking, { stdio: 'inherit' }), 'exit')) as [number];
      return code;
    };
    expect(await answered()).to.equal(0);
    status = 503;
    expect(await answered()).to.equal(1);
    expect(asked).to.deep.equal(['/readyz', '/readyz']);
    await new Promise((resolve) => server.close(resolve));
    expect(await answered()).to.equal(1);
  });

  describe('the ClickHouse beside it', () => {
    it('is of the release that the migrations were written for', () => {
      expect(clickhouse.image).to.match(new RegExp(`^clickhouse/clickhouse-server:${NEEDED_VERSION}(\\.\\d+)*$`));
      expect(readRoot('README.md')).to.include(`ClickHouse ${NEEDED_VERSION} or newer`);
    });

    it('has the settings of the engine, the user of the server, and is waited for where it is chosen', () => {
      const mounted = clickhouse.volumes.map((volume) => volume.split(':')).filter(([from]) => from?.startsWith('./'));
      expect(mounted.map(([from]) => from)).to.deep.equal(['./schema/clickhouse/engine.xml']);
      for (const [from = '', to] of mounted) {
        expect(existsSync(join(root, from)), from).to.equal(true);
        expect(to).to.match(/^\/etc\/clickhouse-server\/config\.d\/\w+\.xml$/);
      }
      const user = { CLICKHOUSE_USER: 'keeper', CLICKHOUSE_PASSWORD: 'se cret' };
      expect(environmentOf(clickhouse, user)).to.deep.equal(user);
      expect(environmentOf(spanhouse, user)).to.include(user);
      expect(clickhouse.profiles).to.deep.equal(['clickhouse']);
      expect(spanhouse.depends_on).to.deep.equal({ clickhouse: { condition: 'service_healthy', required: false } });
      expect(clickhouse.healthcheck?.test.join(' ')).to.include(':8123/ping');
    });
  });
});

describe('the image', () => {
  it('has a Node.js that the program runs on, the same in every stage, with glibc', () => {
    const [, least = ''] =
      /^>=(\d+)/.exec((JSON.parse(readRoot('package.json')) as { engines: { node: string } }).engines.node) ?? [];
    expect(stages).to.have.lengthOf(2);
    const images = stages.map(([from]) => from?.words[0] ?? '');
    expect(new Set(images).size).to.equal(1);
    const [, major] = /^node:(\d+)-bookworm-slim$/.exec(images[0] ?? '') ?? [];
    expect(Number(major)).to.be.at.least(Number(least));
  });

  it('copies only what is there', () => {
    const ignored = readRoot('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(ignored).to.include.members(['.git', '.env', 'node_modules', 'dist', 'data']);
    for (const { from, paths } of [...copies(build), ...copies(final)])
      for (const path of paths) {
        if (from === '--from=build' && path === '/app/node_modules') continue;
        expect(existsSync(join(root, madeOf(path))), path).to.equal(true);
        if (from === undefined) expect(ignored, path).not.to.include(path);
      }
  });

  it('installs what production needs, and builds', () => {
    const { scripts } = JSON.parse(readRoot('package.json')) as { scripts: Record<string, string> };
    const commands = all(build, 'RUN').map(({ words }) => words.join(' '));
    expect(commands[0]).to.match(/^npm ci --omit=dev\b/);
    expect(commands[1]).to.equal('npm run build');
    expect(scripts).to.have.property('build');
  });

  it('runs as a user that owns the data, and no other', () => {
    const [user, ...more] = all(final, 'USER');
    expect(more).to.deep.equal([]);
    // The user `node` of the image, by number.
    expect(user?.words).to.deep.equal(['1000:1000']);
    expect(all(final, 'VOLUME').map(({ words }) => words)).to.deep.equal([[INSIDE.DATA_DIR]]);
    const owned = all(final, 'RUN').map(({ words }) => words.join(' '));
    expect(owned).to.deep.equal([`install -d -o node -g node -m 700 ${INSIDE.DATA_DIR}`]);
    expect(final.indexOf(user!)).to.be.greaterThan(final.indexOf(all(final, 'RUN')[0]!));
  });

  describe('as it is put together', function () {
    this.timeout(60_000);
    let scratch: string;
    let app: string;
    let running: ChildProcess | undefined;
    const environment = () => ({
      ...environmentOf(spanhouse),
      ...Object.fromEntries(all(final, 'ENV').flatMap(({ words }) => words.map((word) => word.split('=')))),
      PATH: process.env['PATH'] ?? '',
      HOST: '127.0.0.1',
      PORT: '0',
      PUBLIC_URL: '',
      DATA_DIR: join(scratch, 'data'),
    });

    before(() => {
      scratch = mkdtempSync(join(tmpdir(), 'spanhouse-image-'));
      app = join(scratch, 'app');
      mkdirSync(app);
      for (const { paths, to } of copies(final))
        for (const path of paths) {
          const here = join(root, path.replace(/^\/app\//, ''));
          mkdirSync(dirname(join(app, to)), { recursive: true });
          if (to === 'node_modules') symlinkSync(here, join(app, to));
          else cpSync(here, join(app, to), { recursive: true });
        }
    });
    after(async () => {
      if (running?.exitCode === null && running.signalCode === null) {
        running.kill('SIGKILL');
        await once(running, 'close');
      }
      rmSync(scratch, { recursive: true, force: true });
    });

    it('starts, serves its pages, takes admin commands, and stops', async () => {
      const [command, ...args] = JSON.parse(all(final, 'CMD')[0]?.words.join(' ') ?? '[]') as string[];
      expect(command).to.equal('node');
      expect(args).to.include.members([...NODE_FLAGS]);
      const variables = all(final, 'ENV').flatMap(({ words }) => words);
      expect(variables).to.include.members(Object.entries(NODE_VARIABLES).map(([name, value]) => `${name}=${value}`));
      const program = spawn(process.execPath, args, {
        cwd: app,
        env: environment(),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      running = program;
      const ended = once(program, 'close') as Promise<[number | null]>;
      let stderr = '';
      program.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      const listening = new Promise<string>((resolve) => {
        createInterface({ input: program.stdout }).on('line', (line) => {
          const [, url] = /"url":"([^"]+)"/.exec(line) ?? [];
          if (url !== undefined) resolve(url);
        });
      });
      const url = await Promise.race([listening, ended.then(() => stderr)]);
      expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
      for (const path of ['/readyz', '/docs/']) expect((await fetch(url + path)).status, path).to.equal(200);

      const admin =
        /docker compose exec spanhouse node (\S+)/.exec(readRoot('src/http/manual/static/containers.md'))?.[1] ?? '';
      const options = { cwd: app, env: environment(), encoding: 'utf8' } as const;
      const { stdout, status } = spawnSync(process.execPath, [admin, 'list-projects', '--json'], options);
      expect(status).to.equal(0);
      expect(JSON.parse(stdout)).to.have.lengthOf(1);

      program.kill('SIGTERM');
      expect((await ended)[0]).to.equal(0);
    });
  });
});
