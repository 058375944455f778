import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Program } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import { hasPrometheus, Prometheus } from './prometheus.js';

/** Nobody listens there. */
const AWAY = 'http://127.0.0.1:9/v1';
const SENDERS = 12;
/** Two of them are more than the queue takes of one project. */
const LARGE = 'x'.repeat(400 * 1024);

/** Minutes become seconds, so that a test need not wait for them. */
const sooner = (rules: string) => rules.replace(/\b(\d+)m\b/g, '$1s').replace(/(oldest_seconds\)) > 900/, '$1 > 5');

describe('alerts by real faults', function () {
  this.timeout(180_000);
  let programs: Programs;
  let program: Program;
  let prometheus: Prometheus;

  before(async function () {
    if (!hasPrometheus()) return this.skip();
    programs = await Programs.make();
    program = await programs.start({ QUEUE_MAX_MB: '1', JUDGE_LLM_BASE_URL: AWAY, JUDGE_LLM_MODEL: 'none' });
    prometheus = await Prometheus.start({ target: new URL(program.url).host, rules: sooner });
    await judgeSpans();
  });
  after(async () => {
    await prometheus?.stop();
    await programs?.dispose();
  });

  const span = (output: string) => ({
    trace_id: randomUUID(),
    name: 'answer',
    kind: 'llm',
    started_at: '2026-01-15T10:00:00Z',
    output_data: output,
  });

  /** Evaluations that nobody answers. */
  async function judgeSpans(): Promise<void> {
    const judge = { name: 'Polite', evaluation_type: 'binary', prompt: 'Is it polite?' };
    expect((await program.request('POST', `/projects/${program.projectId}/judges`, judge)).status).to.equal(201);
    const spans = Array.from({ length: 5 }, () => span('short'));
    expect((await program.request('POST', '/spans', spans)).status).to.equal(200);
  }

  it('fire when spans are refused', async () => {
    let fires = false;
    const send = async () => {
      while (!fires) await program.request('POST', '/spans', [span(LARGE)]);
    };
    const senders = Array.from({ length: SENDERS }, send);
    try {
      const { summary, description, runbook_url } = await prometheus.fires('SpanhouseIngestRefused');
      expect(summary).to.match(/ refuses spans: [\d.]+ requests a second$/);
      expect(description).to.include('requestRefused');
      expect(runbook_url).to.equal('http://127.0.0.1:4318/docs#/Monitoring');
    } finally {
      fires = true;
      await Promise.all(senders);
    }
  });

  it('fire when the model endpoint is away', async () => {
    expect((await prometheus.fires('SpanhouseJudgeQueueOld')).summary).to.match(/ wait for \d+/);
  });

  it('fire when the engine is killed', async () => {
    const { enginePid } = program;
    process.kill(enginePid, 'SIGKILL');
    await program.readyAfter(enginePid);
    await prometheus.fires('SpanhouseEngineRestarted');
    const lost = program.log.map((line) => JSON.parse(line)).filter(({ event }) => event === 'engineLost');
    expect(lost, 'one line per event').to.have.lengthOf(1);
    expect(lost[0].reason).to.include('SIGKILL');
  });

  it('fire when the server is gone', async () => {
    program.signal('SIGTERM');
    await program.ended;
    await prometheus.fires('SpanhouseDown');
  });
});
