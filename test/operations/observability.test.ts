import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { createEvents } from '../../src/observability/events.js';
import { createLogger, type Logger } from '../../src/observability/logger.js';
import { createMetrics } from '../../src/observability/metrics.js';

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

describe('events and metrics', () => {
  it('move the metrics that are documented', async () => {
    const metrics = createMetrics();
    const events = createEvents(quiet(), metrics);
    events.requestFinished({ route: '/spans', method: 'POST', status: 200, seconds: 0.02, requestId: 'r' });
    events.spansAccepted({ source: 'rest', count: 12 });
    events.spansRejected({ source: 'otlp', reason: 'invalid', count: 3 });
    events.spansCommitted({ rows: 12, bytes: 30_000, seconds: 0.01 });
    events.queueChanged({ rows: 5, bytes: 1000 });
    events.engineReady({ pid: 1, seconds: 1 });
    events.engineRestarting({ attempt: 1, delayMs: 0 });
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
      'spanhouse_engine_up 1',
      'spanhouse_engine_restarts_total 1',
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
    createEvents(quiet(), one).spansAccepted({ source: 'rest', count: 1 });
    expect(await two.registry.metrics()).not.to.include('spanhouse_spans_accepted_total{');
  });

  it('say that the engine is down when it is lost', async () => {
    const metrics = createMetrics();
    const events = createEvents(quiet(), metrics);
    events.engineReady({ seconds: 1 });
    events.engineLost({ reason: 'SIGKILL' });
    expect(await metrics.registry.metrics()).to.include('spanhouse_engine_up 0');
  });
});
