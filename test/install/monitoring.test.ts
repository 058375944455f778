import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { composed, environmentOf, readRoot, root, type Service } from './compose.js';

const { prometheus, grafana } = composed().services;

describe('the monitoring of docker-compose.yml', () => {
  /** Files of this checkout, by where containers have them. */
  const mountsOf = ({ volumes: mounted }: Service) =>
    Object.fromEntries(
      mounted
        .map((volume) => volume.split(':'))
        .filter(([from]) => from?.startsWith('./'))
        .map(([from = '', to = '', mode]) => {
          expect(existsSync(join(root, from)), from).to.equal(true);
          expect(mode, from).to.equal('ro');
          return [to, from];
        }),
    );

  it('is there when it is asked for, on this machine alone', () => {
    for (const service of [prometheus, grafana]) {
      expect(service.profiles).to.deep.equal(['monitoring']);
      expect(service.image).to.match(/^(prom\/prometheus:v|grafana\/grafana:)\d+\.\d+\.\d+$/);
      for (const port of service.ports ?? []) expect(port).to.match(/^127\.0\.0\.1:(\d+):(9090|3000)$/);
    }
    const set = composed({ PROMETHEUS_PORT: '9999', GRAFANA_PORT: '3999' }).services;
    expect([set.prometheus.ports, set.grafana.ports]).to.deep.equal([['127.0.0.1:9999:9090'], ['127.0.0.1:3999:3000']]);
  });

  it('scrapes the server by its configuration, with its token', () => {
    const mounts = mountsOf(prometheus);
    const config = '/etc/prometheus/prometheus.yml';
    expect(prometheus.command).to.include(`--config.file=${config}`);
    const { rule_files, scrape_configs } = parse(readRoot(mounts[config] ?? ''));
    for (const file of rule_files) expect(mounts, file).to.have.property(`/etc/prometheus/${file}`);
    const [{ static_configs, authorization }] = scrape_configs;
    expect(static_configs[0].targets).to.deep.equal(['spanhouse:4318']);
    const [token] = prometheus.configs ?? [];
    expect(token?.target).to.equal(`/etc/prometheus/${authorization.credentials_file}`);
    const content = (variables: Record<string, string>) => composed(variables).configs[token?.source ?? '']?.content;
    expect([content({}), content({ METRICS_TOKEN: 'secret' })]).to.deep.equal(['none', 'secret']);
  });

  it('shows the dashboard of this checkout, from that Prometheus', () => {
    const mounts = mountsOf(grafana);
    const provisioning = mounts['/etc/grafana/provisioning'] ?? '';
    const [{ url }] = parse(readRoot(`${provisioning}/datasources/prometheus.yml`)).datasources;
    expect(url).to.equal('http://prometheus:9090');
    const [{ options }] = parse(readRoot(`${provisioning}/dashboards/spanhouse.yml`)).providers;
    const home = grafana.environment['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH'] ?? '';
    expect(dirname(home)).to.equal(options.path);
    expect(existsSync(join(root, mounts[options.path] ?? '', basename(home)))).to.equal(true);
    const password = (variables: Record<string, string>) =>
      environmentOf(composed(variables).services.grafana)['GF_SECURITY_ADMIN_PASSWORD'];
    expect([password({}), password({ GRAFANA_PASSWORD: 'secret' })]).to.deep.equal(['admin', 'secret']);
  });
});
