import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { settings } from '../../src/config/settings.js';
import { readRoot, root } from './compose.js';

const CHART = join(root, 'scripts/deploy/helm');
const packaged = JSON.parse(readRoot('package.json')) as { version: string };
const isThere = (program: string) => spawnSync(program, ['version']).error === undefined;

describe('the Helm chart', function () {
  this.timeout(60_000);
  const helm = (...args: string[]) => spawnSync('helm', args, { encoding: 'utf8' });
  const rendered = (...args: string[]): Record<string, any> => {
    const { stdout, stderr, status } = helm('template', 'spanhouse', CHART, '--kube-version', '1.30.0', ...args);
    expect(status, stderr).to.equal(0);
    return Object.fromEntries(parseAllDocuments(stdout).map((document) => [document.get('kind'), document.toJS()]));
  };

  it('is of the version of the package', () => {
    const { version, appVersion } = parse(readRoot('scripts/deploy/helm/Chart.yaml'));
    expect([version, appVersion]).to.deep.equal([packaged.version, packaged.version]);
  });

  it('has defaults that its schema knows, and gives the server more time to stop than it gives itself', () => {
    const values = parse(readRoot('scripts/deploy/helm/values.yaml'));
    const schema = JSON.parse(readRoot('scripts/deploy/helm/values.schema.json'));
    expect(Object.keys(values)).to.have.members(Object.keys(schema.properties).filter((name) => name !== 'global'));
    expect(values.terminationGracePeriodSeconds).to.be.above(settings.properties.SHUTDOWN_TIMEOUT_SECONDS.default);
    expect(schema.properties.settings.properties).to.include.keys('PUBLIC_URL', 'QUEUE_MAX_MB');
    expect(schema.properties.settings.properties).not.to.have.any.keys('DATA_DIR', 'METRICS_TOKEN');
  });

  it('renders one pod that owns its volume, and nothing that is not asked for', function () {
    if (!isThere('helm')) this.skip();
    const all = rendered();
    expect(Object.keys(all)).to.have.members(['Service', 'StatefulSet']);
    const { spec } = all['StatefulSet'];
    expect(spec.replicas).to.equal(1);
    expect(spec.volumeClaimTemplates).to.have.lengthOf(1);
    expect(spec.template.metadata.labels).to.include(spec.selector.matchLabels);
    expect(all['Service'].spec.selector).to.deep.equal(spec.selector.matchLabels);
    const [container] = spec.template.spec.containers;
    expect(container.image).to.equal(`spanhouse:${packaged.version}`);
    expect(container.env).to.deep.include({ name: 'DATA_DIR', value: '/data' });
    expect(container).to.include.keys('startupProbe', 'livenessProbe').and.not.to.have.any.keys('command');
  });

  it('mounts what else is asked for, and runs no server for maintenance', function () {
    if (!isThere('helm')) this.skip();
    const volume = 'extraVolumes[0].name=backups,extraVolumes[0].persistentVolumeClaim.claimName=backups';
    const mount = 'extraVolumeMounts[0].name=backups,extraVolumeMounts[0].mountPath=/backups';
    const { spec } = rendered('--set', 'maintenance=true', '--set', volume, '--set', mount)['StatefulSet'].spec
      .template;
    const [container] = spec.containers;
    expect(container.volumeMounts).to.deep.include({ name: 'backups', mountPath: '/backups' });
    expect(spec.volumes).to.deep.include({ name: 'backups', persistentVolumeClaim: { claimName: 'backups' } });
    expect(container.command).to.include('sh');
    expect(container).not.to.have.any.keys('startupProbe', 'readinessProbe', 'livenessProbe');
  });

  it('hands settings on as they are, and those of a Secret', function () {
    if (!isThere('helm')) this.skip();
    const all = rendered(
      ...['--set', 'settings.QUEUE_MAX_MB=1024', '--set', 'settings.OTLP_GRPC_PORT=4317'],
      ...['--set', 'settings.ENGINE_MEMORY_MB=1048576', '--set', 'secretSettings=keys'],
      ...['--set', 'ingress.enabled=true,ingress.host=house.example,ingress.tlsSecret=tls'],
      ...['--set', 'prometheus.serviceMonitor=true,persistence.existingClaim=old'],
    );
    expect(Object.keys(all)).to.have.members(['Service', 'StatefulSet', 'Ingress', 'ServiceMonitor']);
    const { spec } = all['StatefulSet'];
    const [container] = spec.template.spec.containers;
    expect(container.env).to.deep.include.members([
      { name: 'QUEUE_MAX_MB', value: '1024' },
      { name: 'ENGINE_MEMORY_MB', value: '1048576' },
    ]);
    expect(container.envFrom).to.deep.equal([{ secretRef: { name: 'keys' } }]);
    expect(spec.volumeClaimTemplates).to.equal(undefined);
    expect(all['Service'].spec.ports.map(({ port }: { port: number }) => port)).to.deep.equal([4318, 4317]);
  });

  it('refuses unknown settings, wrong values, and secrets that everybody could read', function () {
    if (!isThere('helm')) this.skip();
    for (const wrong of ['QUEUE_MAXMB=1', 'QUEUE_MAX_MB=many', 'LOG_LEVEL=loud', 'METRICS_TOKEN=x', 'DATA_DIR=/x']) {
      const { status, stderr } = helm(
        'template',
        'spanhouse',
        CHART,
        '--kube-version',
        '1.30.0',
        '--set',
        `settings.${wrong}`,
      );
      expect(status, wrong).not.to.equal(0);
      expect(stderr, wrong).to.include(wrong.split('=')[0]);
    }
  });
});

describe('the systemd unit', () => {
  const path = 'scripts/deploy/spanhouse.service';

  it('gives the server more time to stop than it gives itself, and a folder for its data', () => {
    const unit = readRoot(path);
    const [, stop] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
    expect(Number(stop)).to.be.above(settings.properties.SHUTDOWN_TIMEOUT_SECONDS.default);
    expect(unit)
      .to.match(/^Environment=DATA_DIR=%S\/spanhouse$/m)
      .and.match(/^StateDirectory=spanhouse$/m);
  });

  it('is one that systemd takes, and finds well closed', function () {
    if (!isThere('systemd-analyze')) this.skip();
    for (const args of [['verify'], ['security', '--offline=true', '--threshold=25', '--no-pager']]) {
      const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, join(root, path)], {
        encoding: 'utf8',
      });
      expect(status, `${stdout}${stderr}`).to.equal(0);
    }
  });
});

describe('the workflows of GitHub', () => {
  it('run actions by commits, which no one can replace, and say of which version these are', () => {
    const folder = '.github/workflows';
    const used = readdirSync(join(root, folder)).flatMap(
      (name) => readRoot(`${folder}/${name}`).match(/(?<=uses: ).*$/gm) ?? [],
    );
    expect(used).not.to.be.empty;
    for (const action of used) expect(action).to.match(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('name files and commands that are there', () => {
    const folder = '.github/workflows';
    for (const name of readdirSync(join(root, folder))) {
      const { jobs } = parse(readRoot(`${folder}/${name}`)) as { jobs: Record<string, { needs?: string }> };
      for (const { needs } of Object.values(jobs)) if (needs !== undefined) expect(jobs).to.have.property(needs);
      for (const [given] of readRoot(`${folder}/${name}`).matchAll(/(?<=\s)(scripts\/deploy|\.ci)\/[\w/.]+/g))
        expect(() => readRoot(given === 'scripts/deploy/helm' ? `${given}/Chart.yaml` : given), given).not.to.throw();
    }
  });
});
