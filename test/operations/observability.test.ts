import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { linesTable } from '../../src/engine/signals/documentation.js';
import { Denials } from '../../src/engine/signals/denials.js';
import { createLogger, type Logger } from '../../src/engine/signals/logger.js';
import { createMetrics } from '../../src/engine/signals/metrics.js';
import { Refusals } from '../../src/engine/signals/refusals.js';
import { createSignals, LINES, logEvent } from '../../src/engine/signals/signals.js';
import { packageRoot } from '../../src/engine/files/schema-files.js';
import { bootServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { GrpcExporter, message } from '../otlp/grpc-exporter.js';
import { otlpSpan } from '../otlp/requests.js';

function capture(level: 'debug' | 'info' | 'silent' = 'debug', format: 'json' | 'pretty' = 'json') {
  const stream = new PassThrough();
  const logger = createLogger({ level, format }, stream);
  const text = () => String((stream.read() as Buffer | null) ?? '');
  const lines = () =>
    text()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { logger, text, lines };
}

/** Everything that may write lines. */
function sourceTexts(): string[] {
  const folder = join(packageRoot(), 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const texts = files.filter((file) => file.endsWith('.ts')).map((file) => readFileSync(join(folder, file), 'utf8'));
  // What may be told is not told yet.
  return texts.map((text) => text.replaceAll(/Pick<Signals,[^>]*>/g, ''));
}

/** Silent, for tests that look at metrics only. */
const quiet = (): Logger => capture('silent').logger;

describe('logger', () => {
  it('writes one JSON object per line with level, time, message and fields', () => {
    const { logger, lines } = capture();
    logger.info('Listening', { port: 4318 });
    const [line] = lines();
    expect(line).to.include({ level: 'info', message: 'Listening', port: 4318 });
    expect(Date.parse(String(line?.['timestamp']))).to.be.closeTo(Date.now(), 5000);
  });

  it('adds the fields of a child to its lines only', () => {
    const { logger, lines } = capture();
    const child = logger.child({ request_id: 'r1' }).child({ route: '/spans' });
    child.info('inside');
    logger.info('outside');
    const [inside, outside] = lines();
    expect(inside).to.include({ request_id: 'r1', route: '/spans' });
    expect(outside).not.to.have.any.keys('request_id', 'route');
  });

  it('never writes a secret, wherever it stands', () => {
    const { logger, text } = capture();
    logger.info('key sk_live_abc123 made', {
      authorization: 'Bearer hunter2-token',
      headers: { Authorization: 'Bearer hunter2-token', cookie: 'hunter2' },
      note: 'sent with Bearer hunter2-token',
      url: 'http://default:hunter2@clickhouse:8123/',
      list: [{ api_key: 'hunter2', apiKey: 'hunter2', password: 'hunter2' }],
      error: new Error('bad key sk_live_abc123', { cause: new Error('Bearer hunter2-token') }),
    });
    const written = text();
    expect(written).not.to.match(/hunter2|abc123/);
    expect(written).to.include('[redacted]');
  });

  it('writes errors with stack and cause, and survives cycles and bigints', () => {
    const { logger, lines } = capture();
    const cycle: Record<string, unknown> = { n: 12n };
    cycle['self'] = cycle;
    logger.error('Broken', { error: new Error('outer', { cause: new Error('inner') }), cycle });
    const [line] = lines();
    const error = line?.['error'] as { message: string; stack: string; cause: { message: string } };
    expect(error.message).to.equal('outer');
    expect(error.stack).to.include('observability.test');
    expect(error.cause.message).to.equal('inner');
  });

  it('writes nothing on a terminal that it takes for a command, whatever clients call things', () => {
    const { logger, text } = capture('debug', 'pretty');
    const hostile = 'a\u001b[2J\u009b2J\u0007\u202eb';
    logger.warn('Odd', { name: hostile, error: new Error(`no ${hostile}\rx`) });
    const written = text();
    expect(written).to.include('\\u001b[2J').and.include('\\u009b2J').and.include('\\u202e').and.include('\\u000dx');
    expect(written.replaceAll(/\u001b\[\d{1,2}m/g, '')).not.to.match(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/,
    );
  });

  it('keeps to its level', () => {
    const { logger, lines } = capture('info');
    logger.debug('no');
    logger.warn('yes');
    expect(lines().map((line) => line['message'])).to.deep.equal(['yes']);
    const silent = capture('silent');
    silent.logger.error('no');
    expect(silent.text()).to.equal('');
  });

  it('writes lines for people on a terminal, with the stack below', () => {
    const { logger, text } = capture('debug', 'pretty');
    logger.error('Broken', { request_id: 'r1', reason: 'two words', error: new Error('why') });
    expect(text()).to.match(
      /\d\d:\d\d:\d\d\.\d{3} .*error.* Broken request_id=r1 reason="two words"\nError: why\n {4}at /,
    );
  });
});

describe('lines of the log', () => {
  it('have their name, and what to do where something is to be done', () => {
    const { logger, lines } = capture();
    logEvent(logger, 'diskFull');
    logEvent(logger, 'signedIn', { address: '192.0.2.0/24' });
    const [full, signedIn] = lines();
    expect(full).to.include({ level: 'error', event: 'diskFull', message: LINES.diskFull.message });
    expect(full?.['action']).to.match(/^Free space/);
    expect(signedIn)
      .to.include({ level: 'info', event: 'signedIn', address: '192.0.2.0/24' })
      .and.not.have.any.keys('action');
  });

  it('say what to do on a terminal, too, behind everything else', () => {
    const { logger, text } = capture('info', 'pretty');
    logEvent(logger, 'leaseLost', { reason: 'taken' });
    expect(text()).to.match(/ Database lease lost event=leaseLost reason=taken → Run one server per database/);
  });

  it('are for debugging when they were said a moment ago', () => {
    const { logger, lines } = capture('debug');
    logEvent(logger, 'modelCallFailed', {}, true);
    expect(lines()[0]).to.include({ level: 'debug', event: 'modelCallFailed' });
  });

  it('stand in the manual, each once and in a cell of its own', () => {
    const rows = linesTable().split('\n').slice(2);
    expect(rows).to.have.lengthOf(Object.keys(LINES).length);
    for (const row of rows) expect(row.split('|'), row).to.have.lengthOf(6);
    for (const name of Object.keys(LINES))
      expect(rows.filter((row) => row.includes(`| \`${name}\` |`))).to.have.lengthOf(1);
  });

  it('are written somewhere', () => {
    const sources = sourceTexts().join('\n');
    for (const name of Object.keys(LINES)) expect(sources, name).to.match(new RegExp(`\\.${name}\\(|'${name}'`));
  });

  it('tell of a defect once: not as a refused request, too', () => {
    const { logger, lines } = capture('info');
    const events = createSignals(logger, createMetrics());
    const request = { route: '/spans', method: 'GET', seconds: 0.02, requestId: 'r' };
    events.requestFailed({ requestId: 'r', error: new Error('why') });
    events.requestFinished({ ...request, status: 500 });
    events.requestFinished({ ...request, status: 503, reason: 'The disk is full' });
    expect(lines().map(({ event, reason }) => [event, reason])).to.deep.equal([
      ['requestFailed', undefined],
      ['requestRefused', 'The disk is full'],
    ]);
  });
});

describe('requests that are refused', function () {
  this.timeout(60_000);

  it('are told once for each reason, whatever its figures', () => {
    const { logger, lines } = capture('info');
    const events = createSignals(logger, createMetrics());
    const http = { route: '/spans', method: 'POST', seconds: 0.001, requestId: 'r' };
    const rpc = { method: '/Export', seconds: 0.001 };
    for (let free = 0; free < 100; free += 1) {
      events.requestFinished({ ...http, status: 503, reason: `The disk has ${free}.5 MB left` });
      events.rpcFinished({ ...rpc, code: 'UNAVAILABLE', refusedFor: `The disk has ${free} MB left` });
      events.requestFinished({ ...http, status: 429, reason: 'Too many spans wait' });
      events.requestFinished({ ...http, status: 413, reason: 'The body is too large' });
      events.rpcFinished({ ...rpc, code: 'RESOURCE_EXHAUSTED' });
    }
    events.requestsEnded();
    expect(lines().map(({ event, level, reason, refused }) => [event, level, reason, refused])).to.deep.equal([
      ['requestRefused', 'warn', 'The disk has 0.5 MB left', undefined],
      ['requestRefused', 'warn', 'Too many spans wait', undefined],
      ['refusalsEnded', 'info', 'The disk has 0.5 MB left', 200],
      ['refusalsEnded', 'info', 'Too many spans wait', 100],
    ]);
  });

  it('are counted when it is over, and told anew when it begins again', async () => {
    const told: string[] = [];
    const ended: object[] = [];
    const refusals = new Refusals(
      {
        refused: ({ reason }, said) => told.push(`${String(reason)}${said ? ', again' : ''}`),
        ended: ({ reason, refused }) => ended.push({ reason, refused }),
      },
      20,
    );
    for (const reason of ['one', 'many', 'many', 'many']) refusals.refused(reason, {});
    expect(told).to.deep.equal(['one', 'many', 'many, again', 'many, again']);
    await until('it is over', () => ended.length > 0);
    expect(ended).to.deep.equal([{ reason: 'many', refused: 3 }]);
    refusals.refused('many', {});
    expect(told.at(-1)).to.equal('many');
    refusals.close();
  });

  it('are of a hundred reasons at most, each cut off', () => {
    const told: string[] = [];
    const refusals = new Refusals({
      refused: ({ reason }, said) => told.push(...(said ? [] : [String(reason)])),
      ended: ({ reason, refused }) => told.push(`${reason}: ${refused}`),
    });
    const letters = (index: number) => String.fromCharCode(97 + (index % 26), 97 + Math.floor(index / 26));
    for (let index = 0; index < 300; index += 1) refusals.refused(letters(index) + 'x'.repeat(10_000), {});
    refusals.close();
    expect(told).to.have.length(102);
    expect(Math.max(...told.map((text) => text.length))).to.equal(300);
    expect(told.at(-1)).to.equal('other reasons: 200');
  });

  it('for want of a key or a scope are told with who asked from where, ten a minute for each network', () => {
    const { logger, lines } = capture('info');
    const events = createSignals(logger, createMetrics());
    const http = { route: '/spans', method: 'GET', seconds: 0.001, requestId: 'r' };
    const denied = (address: string, network = address) => ({ address, network, caller: { key_id: 'k' } });
    for (let count = 0; count < 20; count += 1) {
      events.requestFinished({ ...http, status: 403, reason: 'lacks spans:read', denied: denied('192.0.2.7') });
      events.rpcFinished({
        method: '/Export',
        code: 'UNAUTHENTICATED',
        seconds: 0,
        denied: { ...denied('::1'), reason: 'no' },
      });
    }
    const told = lines();
    expect(told.map(({ address }) => address)).to.have.members([
      ...Array<string>(10).fill('192.0.2.7'),
      ...Array<string>(10).fill('::1'),
    ]);
    expect(told[0]).to.include({
      event: 'accessDenied',
      level: 'info',
      reason: 'lacks spans:read',
      status: 403,
      key_id: 'k',
    });
    for (let count = 0; count < 20; count += 1)
      events.requestFinished({ ...http, status: 401, denied: denied(`2001:db8::${count}`, '2001:db8:0:0') });
    expect(lines().filter(({ address }) => String(address).startsWith('2001:'))).to.have.length(10);
    let [now, said] = [0, 0];
    const denials = new Denials(() => now);
    for (let count = 0; count < 2_000; count += 1) if (!denials.isEnough(`2001:db8::${count}`)) said += 1;
    expect(said, 'of all addresses together').to.equal(600);
    now = 60_000;
    expect(denials.isEnough('2001:db8::1')).to.equal(false);
  });

  it('are told by a server of both interfaces, and at its stop', async () => {
    const { logger, lines } = capture('info');
    const body = [{ trace_id: randomUUID(), name: 'refused', started_at: '2026-01-15T10:00:00Z' }];
    const server = await bootServer({ logger, env: { OTLP_GRPC_PORT: '0', MIN_FREE_DISK_MB: '1000000000' } });
    const exporter = new GrpcExporter(server);
    try {
      for (let time = 0; time < 3; time += 1) {
        expect((await server.request('POST', '/spans', { body })).status).to.equal(503);
        expect((await exporter.send(message(otlpSpan()))).details).to.include('disk');
      }
      const { json: sends } = await server.request('POST', `/projects/${server.projectId}/api-keys`, {
        body: { name: 'sends', access: 'ingest' },
      });
      for (const key of [null, sends.key as string]) await server.request('GET', '/spans', { key });
    } finally {
      exporter.close();
      await server.dispose();
    }
    const all = lines();
    const denied = all.filter(({ event }) => event === 'accessDenied');
    expect(denied.map(({ status, address, project_id }) => [status, address, project_id])).to.deep.equal([
      [401, '127.0.0.1', undefined],
      [403, '127.0.0.1', server.projectId],
    ]);
    const told = all.filter(({ event }) => /requestRefused|refusalsEnded/.test(String(event)));
    expect(told.map(({ event, refused }) => [event, refused])).to.deep.equal([
      ['requestRefused', undefined],
      ['refusalsEnded', 6],
    ]);
  });
});

describe('events and metrics', () => {
  it('move the metrics that are documented', async () => {
    const metrics = createMetrics();
    const events = createSignals(quiet(), metrics);
    events.requestFinished({ route: '/spans', method: 'POST', status: 200, seconds: 0.02, requestId: 'r' });
    events.spansAccepted({ source: 'rest', count: 12, cost: 0.5 });
    events.spansRejected({ source: 'otlp', reason: 'invalid', count: 3 });
    events.spansCommitted({ rows: 12, bytes: 30_000, deletes: false, seconds: 0.01 });
    events.queueChanged({ rows: 5, bytes: 1000 });
    events.engineReady({ pid: 1, seconds: 1 });
    events.engineLost({ reason: 'SIGKILL' });
    events.engineNotStarted({ reason: 'SIGKILL' });
    events.queryFinished({ list: 'traces', seconds: 0.003 });
    events.rollupPending({ traces: 7 });
    events.rollupFinished({ traces: 7, seconds: 0.1 });
    const text = await metrics.registry.metrics();
    for (const line of [
      'http_request_duration_seconds_count{method="POST",route="/spans",status="200"} 1',
      'spanhouse_spans_accepted_total{source="rest"} 12',
      'spanhouse_spans_rejected_total{source="otlp",reason="invalid"} 3',
      'spanhouse_commit_rows_sum 12',
      'spanhouse_commit_bytes_sum 30000',
      'spanhouse_commit_duration_seconds_count 1',
      'spanhouse_commit_queue_rows 5',
      'spanhouse_commit_queue_bytes 1000',
      'spanhouse_spans_cost_dollars_total{source="rest"} 0.5',
      'spanhouse_engine_restarts_total 2',
      'spanhouse_query_duration_seconds_count{list="traces"} 1',
      'spanhouse_rollup_pending_traces 7',
      'spanhouse_rollup_duration_seconds_count 1',
    ]) {
      expect(text.split('\n')).to.include(line);
    }
    expect(text).to.include('process_resident_memory_bytes');
  });

  it('are not shared between two servers in one process', async () => {
    const [one, two] = [createMetrics(), createMetrics()];
    createSignals(quiet(), one).spansAccepted({ source: 'rest', count: 1, cost: 0 });
    expect(await two.registry.metrics()).not.to.include('spanhouse_spans_accepted_total{');
  });

  it('ask ClickHouse once for all of its figures, and leave out what it does not say', async () => {
    const metrics = createMetrics();
    const events = createSignals(quiet(), metrics);
    const of = async () => (await metrics.registry.metrics()).match(/^spanhouse_engine_(?!restarts).*/gm);
    expect(await of()).to.deep.equal(['spanhouse_engine_memory_max_bytes 0', 'spanhouse_engine_up 0']);
    let asked = 0;
    const figures = { memoryBytes: 5, parts: 3, partitionParts: 2 };
    const limits = { queueMaxBytes: 7, logMaxBytes: 1000, memoryMaxBytes: null };
    events.traceStoreOpened({ ...limits, figures: async () => (asked++, figures) });
    const known = [
      'spanhouse_engine_up 1',
      'spanhouse_engine_memory_bytes 5',
      'spanhouse_engine_parts 3',
      'spanhouse_engine_partition_parts 2',
    ];
    expect([await of(), await of()]).to.deep.equal([known, known]);
    expect(asked).to.equal(1);
    events.traceStoreOpened({ ...limits, figures: async () => null });
    expect(await of()).to.deep.equal(['spanhouse_engine_up 0']);
  });
});
