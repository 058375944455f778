import { availableParallelism } from 'node:os';
import { expect } from 'chai';
import { ConfigError, loadConfig, localUrl, publicUrl } from '../../src/config/config.js';
import { settingDefinitions } from '../../src/config/settings.js';

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('configuration', () => {
  it('starts from an empty environment with the documented defaults', () => {
    const config = loadConfig({});
    expect(config.http).to.deep.equal({
      port: 4318,
      host: '127.0.0.1',
      publicUrl: null,
      maxBodyBytes: 32 * 1024 * 1024,
      trustedProxies: 0,
      hstsSeconds: 0,
    });
    expect(config.dataDir).to.equal(`${process.cwd()}/data`);
    expect(config.clickhouse).to.deep.equal({
      url: null,
      user: 'default',
      password: '',
      database: 'spanhouse',
      cluster: null,
      leaseSeconds: 15,
      writeLog: false,
    });
    expect(config.init).to.deep.equal({ projectId: null, apiKey: null });
    expect(config.metricsToken).to.equal(null);
    expect(config.engine.memoryMb).to.equal(2048);
    expect(config.commit).to.deep.equal({
      maxRows: 10_000,
      maxBytes: 32 * 1024 * 1024,
      queueMaxBytes: 128 * 1024 * 1024,
      logMaxBytes: 2048 * 1024 * 1024,
    });
    expect(config.ingest).to.deep.equal({
      maxEncodedBytes: 64 * 1024 * 1024,
      maxTagBytes: 262_144,
      threads: Math.min(Math.max(availableParallelism() - 2, 0), 8),
    });
    expect(config.read).to.deep.equal({ timeoutSeconds: 30, maxResultBytes: 256 * 1024 * 1024 });
    expect(config.shutdownTimeoutSeconds).to.equal(9);
  });

  it('takes an empty variable for an unset one, and does not change the environment', () => {
    const env = { PORT: '', CLICKHOUSE_URL: '  ', LOG_FORMAT: '' };
    expect(loadConfig(env).http.port).to.equal(4318);
    expect(loadConfig(env).clickhouse.url).to.equal(null);
    expect(env).to.deep.equal({ PORT: '', CLICKHOUSE_URL: '  ', LOG_FORMAT: '' });
  });

  it('looks for buckets of backups where that of images is, unless it is told otherwise', () => {
    const images = { S3_BUCKET: 'images', S3_ENDPOINT: 'http://minio:9000', S3_FORCE_PATH_STYLE: 'true' };
    const s3 = { endpoint: 'http://minio:9000', region: 'us-east-1', forcePathStyle: true };
    expect(loadConfig(images).backup).to.deep.equal({ schedule: null, s3: { ...s3, credentials: undefined } });
    const own = {
      BACKUP_EVERY: '6h',
      BACKUP_TO: 's3://backups/spanhouse',
      BACKUP_S3_ENDPOINT: 'https://s3.eu-central-1.amazonaws.com',
      BACKUP_S3_REGION: 'eu-central-1',
      BACKUP_S3_FORCE_PATH_STYLE: 'false',
      BACKUP_S3_ACCESS_KEY_ID: 'id',
      BACKUP_S3_SECRET_ACCESS_KEY: 'secret',
    };
    expect(loadConfig({ ...images, ...own }).backup).to.deep.equal({
      schedule: { everyMs: 6 * 3_600_000, to: 's3://backups/spanhouse', keep: 7 },
      s3: {
        endpoint: 'https://s3.eu-central-1.amazonaws.com',
        region: 'eu-central-1',
        forcePathStyle: false,
        credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
      },
    });
    expect(
      problemsOf({ BACKUP_EVERY: '6h', BACKUP_TO: 'gs://bucket', BACKUP_S3_SECRET_ACCESS_KEY: 'x' }),
    ).to.have.members([
      'BACKUP_TO must be a folder, or a bucket as s3://bucket/prefix (it is "gs://bucket")',
      'Set both BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY, or neither',
    ]);
  });

  it('leaves the server untraced unless it is told where traces go', () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };
    expect(loadConfig({ OTEL_SERVICE_NAME: 'x' }).tracing).to.equal(null);
    expect(loadConfig({ ...endpoint, OTEL_SDK_DISABLED: 'true' }).tracing).to.equal(null);
    expect(
      loadConfig({ ...endpoint, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' }).tracing,
    ).to.deep.equal({
      endpoint: 'http://collector:4318/',
      headers: null,
      serviceName: 'spanhouse',
      sampler: 'traceidratio',
      samplerArgument: 0.25,
    });
    expect(problemsOf({ OTEL_TRACES_SAMPLER_ARG: '1.5', OTEL_EXPORTER_OTLP_HEADERS: 'k=hunter%2' })).to.have.members([
      'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1 (it is "1.5")',
      'OTEL_EXPORTER_OTLP_HEADERS must be names and percent-encoded values, such as Authorization=Bearer%20secret, separated by commas',
    ]);
    expect(problemsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/v1/traces' })[0]).to.match(
      /before \/v1\/traces/,
    );
    // Read by OpenTelemetry's libraries, or meant for other programs.
    expect(loadConfig({ OTEL_EXPORTER_OTLP_TIMEOUT: '1000', OTEL_METRICS_EXPORTER: 'none' }).warnings).to.deep.equal(
      [],
    );
  });

  it('lists every problem at once, with the variable, the rule and the value', () => {
    expect(
      problemsOf({ PORT: '70000', LOG_LEVEL: 'loud', QUEUE_MAX_MB: '1.5', CLICKHOUSE_URL: 'localhost:9000' }),
    ).to.have.members([
      'PORT must be a whole number from 0 to 65535 (it is "70000")',
      'LOG_LEVEL must be one of error, warn, info, debug, silent (it is "loud")',
      'QUEUE_MAX_MB must be a whole number from 1 to 65536 (it is "1.5")',
      `CLICKHOUSE_URL must be the http:// or https:// URL of ClickHouse's HTTP port without a path, such as http://localhost:8123 (it is "localhost:9000")`,
    ]);
  });

  it('takes no path in CLICKHOUSE_URL, which the client would take for another database than the one configured', () => {
    for (const CLICKHOUSE_URL of ['http://localhost:8123', 'https://clickhouse.example/', 'http://u:p@10.0.0.1:8123'])
      expect(problemsOf({ CLICKHOUSE_URL }), CLICKHOUSE_URL).to.deep.equal([]);
    for (const CLICKHOUSE_URL of [
      'http://localhost:8123/spans',
      'http://localhost:8123//',
      'http://localhost:8123?a=1',
    ])
      expect(problemsOf({ CLICKHOUSE_URL }), CLICKHOUSE_URL).to.have.lengthOf(1);
  });

  it('takes the address before /chat/completions in JUDGE_LLM_BASE_URL, not that of the calls', () => {
    for (const JUDGE_LLM_BASE_URL of ['https://api.openai.com/v1', 'http://h/v1/', 'http://h/chat/completions/v1'])
      expect(problemsOf({ JUDGE_LLM_BASE_URL }), JUDGE_LLM_BASE_URL).to.deep.equal([]);
    for (const JUDGE_LLM_BASE_URL of ['https://host/v1/chat/completions', 'https://host/chat/completions/'])
      expect(problemsOf({ JUDGE_LLM_BASE_URL })).to.deep.equal([
        'JUDGE_LLM_BASE_URL must be the address before /chat/completions: an http:// or https:// URL without user, query or ' +
          `fragment, such as https://api.openai.com/v1 (it is "${JUDGE_LLM_BASE_URL}")`,
      ]);
  });

  it('says what to do, and never quotes a secret', () => {
    const env = { SPANHOUSE_INIT_PROJECT_ID: 'demo', SPANHOUSE_INIT_API_KEY: 'sk_with space', METRICS_TOKEN: 'to ken' };
    expect(() => loadConfig(env))
      .to.throw(ConfigError)
      .with.property('message')
      .that.includes('npm start -- --help')
      .and.includes('SPANHOUSE_INIT_PROJECT_ID must be a UUID (it is "demo")')
      .and.includes('SPANHOUSE_INIT_API_KEY must be 8 to 256')
      .and.not.match(/with space|to ken/);
  });

  it('has room for bodies for four of the largest, or more', () => {
    const memory = (env: Record<string, string>) => loadConfig(env).bodies.memoryBytes / (1024 * 1024);
    expect(memory({})).to.equal(128);
    expect(memory({ MAX_BODY_MB: '8', BODY_MEMORY_MB: '40' })).to.equal(40);
    expect(memory({ MAX_BODY_MB: '8', BODY_MEMORY_MB: '31' })).to.equal(32);
  });

  it('refuses half of a pair', () => {
    expect(problemsOf({ SPANHOUSE_INIT_API_KEY: 'sk_0123456789' })).to.have.lengthOf(1);
    expect(problemsOf({ CLICKHOUSE_CLUSTER: 'main' })).to.deep.equal([
      'CLICKHOUSE_CLUSTER needs CLICKHOUSE_URL: the embedded engine is never part of a cluster',
    ]);
  });

  it('takes port 0 and both ends of every whole number', () => {
    for (const [name, definition] of settingDefinitions) {
      if (definition.type !== 'integer') continue;
      const { minimum, maximum } = definition as unknown as { minimum: number; maximum: number };
      expect(problemsOf({ [name]: String(minimum) }), name).to.deep.equal([]);
      expect(problemsOf({ [name]: String(maximum) }), name).to.deep.equal([]);
      expect(problemsOf({ [name]: String(minimum - 1) }), name).to.have.lengthOf(1);
      expect(problemsOf({ [name]: String(maximum + 1) }), name).to.have.lengthOf(1);
    }
  });

  it('names variables that were meant as settings, and the setting that is near', () => {
    const warnings = (...names: string[]) => loadConfig(Object.fromEntries(names.map((name) => [name, '1']))).warnings;
    const near = {
      JUDGE_LLM_URL: 'JUDGE_LLM_BASE_URL',
      JUDGE_LLM_KEY: 'JUDGE_LLM_API_KEY',
      JUDGE_LLM_BASEURL: 'JUDGE_LLM_BASE_URL',
      JUDGE_MODEL: 'JUDGE_LLM_MODEL',
      JUDGE_CONCURENCY: 'JUDGE_CONCURRENCY',
      READ_TIMEOUT: 'READ_TIMEOUT_SECONDS',
      CLICKHOUSE_URI: 'CLICKHOUSE_URL',
      SPANHOUSE_PORT: 'PORT',
      SPANHOUSE_DATA_DIR: 'DATA_DIR',
      ATTACHMENT_FETCH_HOST: 'ATTACHMENT_FETCH_HOSTS',
    };
    expect(warnings(...Object.keys(near))).to.deep.equal(
      Object.entries(near).map(([name, setting]) => `${name} is not a Spanhouse setting; did you mean ${setting}?`),
    );
    expect(warnings('SPANHOUSE_COLOUR')).to.deep.equal([
      'SPANHOUSE_COLOUR is not a Spanhouse setting; `npm start -- --help` lists all settings',
    ]);
  });

  it('names settings of earlier versions, and why they are gone', () => {
    const [warning, ...others] = loadConfig({ COMMIT_WAIT_MS: '3' }).warnings;
    expect(warning).to.match(/^COMMIT_WAIT_MS no longer has any effect: /);
    expect(others).to.deep.equal([]);
  });

  it('leaves alone the variables of other programs, and of its own clients', () => {
    const others = [
      ...['AWS_REGION', 'OTEL_EXPORTER_OTLP_TIMEOUT', 'S3_ACCESS_KEY', 'S3_SECRET_KEY', 'LOG_FILE', 'PUBLIC_KEY'],
      ...['CLICKHOUSE_HOST', 'CLICKHOUSE_DB', 'CLICKHOUSE_UID', 'CLICKHOUSE_CONFIG', 'JUDGE_NAME', 'JUDGE0_TOKEN'],
      ...['HOSTNAME', 'HOST_IP', 'JOB_ID', 'JOB_NAME', 'COMMIT_SHA', 'DATA_', 'PATH', '', '_'],
      ...['SPANHOUSE_KEY', 'SPANHOUSE_API_KEY', 'SPANHOUSE_PROJECT', 'SPANHOUSE_URL'],
      // Kubernetes tells every container of its services.
      ...['SPANHOUSE_SERVICE_HOST', 'SPANHOUSE_SERVICE_PORT_HTTP', 'SPANHOUSE_PORT_4318_TCP_ADDR'],
    ];
    const env = { ...Object.fromEntries(others.map((name) => [name, '1'])), SPANHOUSE_PORT: 'tcp://10.0.0.1:4318' };
    expect(loadConfig(env).warnings).to.deep.equal([]);
  });

  it('says where programs of the machine call the server, whatever its public URL', () => {
    const local = (env: Record<string, string>) =>
      localUrl(loadConfig({ PUBLIC_URL: 'https://spans.example', ...env }).http);
    expect(local({})).to.equal('http://127.0.0.1:4318');
    expect(local({ HOST: '0.0.0.0', PORT: '5001' })).to.equal('http://127.0.0.1:5001');
    expect(local({ HOST: '::' })).to.equal('http://[::1]:4318');
    expect(local({ HOST: 'fe80::1' })).to.equal('http://[fe80::1]:4318');
    expect(local({ HOST: 'spans.lan' })).to.equal('http://spans.lan:4318');
  });

  it('hands out URLs a client can call', () => {
    expect(publicUrl(loadConfig({}).http, 4318)).to.equal('http://127.0.0.1:4318');
    expect(publicUrl(loadConfig({ HOST: '0.0.0.0', PORT: '0' }).http, 5001)).to.equal('http://localhost:5001');
    expect(publicUrl(loadConfig({ HOST: '::1' }).http, 80)).to.equal('http://[::1]:80');
    expect(publicUrl(loadConfig({ PUBLIC_URL: 'https://spans.example/base/' }).http, 80)).to.equal(
      'https://spans.example/base',
    );
  });
});
