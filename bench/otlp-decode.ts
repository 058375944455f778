import { SpanKind, SpanStatusCode, trace, context } from '@opentelemetry/api';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Command } from 'commander';
import { decodeJson } from '../src/otlp/json.js';
import { decodeProtobuf } from '../src/otlp/protobuf.js';
import { toSpans } from '../src/otlp/span.js';
import { captureContext, writeResults } from './results.js';

interface Options {
  readonly spans: string;
  readonly seconds: string;
  readonly write: boolean;
}

/** `otlp-decode`: how many spans of an OTLP request one core decodes and maps to domain spans in a second. */
export function register(program: Command): void {
  program
    .command('otlp-decode')
    .description('decode OTLP requests and map them to spans, without HTTP and store')
    .option('--spans <n>', 'spans in each request', '512')
    .option('--seconds <n>', 'how long each figure is measured', '3')
    .option('--no-write', 'print only')
    .action(async (options: Options) => {
      const before = captureContext();
      const count = Number(options.spans);
      const bodies = await makeBodies(count);
      const perSpan = Math.round(bodies.protobuf.length / count);
      const steps: readonly [string, () => number][] = [
        ['protobuf: decode', () => decodeProtobuf(bodies.protobuf).spans.length],
        ['protobuf: decode + map', () => toSpans(decodeProtobuf(bodies.protobuf)).spans.length],
        ['JSON: parse', () => (parse(bodies.json) === null ? 0 : count)],
        ['JSON: parse + decode', () => decodeJson(parse(bodies.json)).spans.length],
        ['JSON: parse + decode + map', () => toSpans(decodeJson(parse(bodies.json))).spans.length],
      ];
      const rows = steps.map(([name, step]) => {
        const perSecond = measure(step, Number(options.seconds));
        console.log(`${name}: ${perSecond} spans/s`);
        return [name, perSecond, (1e6 / perSecond).toFixed(1)];
      });
      if (!options.write) return;
      writeResults({
        name: 'OTLP decoding',
        command: 'npm run bench -- otlp-decode',
        context: before,
        engine: 'not used',
        about: `Requests of ${count} GenAI spans of ${perSpan} bytes each in protobuf, made by the OpenTelemetry SDK; one core, no HTTP, no store.`,
        columns: ['step', 'spans/s', 'µs per span'],
        rows,
      });
    });
}

function parse(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')) as unknown;
}

/** The median of the rates of short stretches, so that a pause of the machine does not count. */
function measure(step: () => number, seconds: number): number {
  const warmUntil = performance.now() + 1000;
  while (performance.now() < warmUntil) step();
  const rates: number[] = [];
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    const started = performance.now();
    let spans = 0;
    for (let i = 0; i < 10; i++) spans += step();
    rates.push((spans / (performance.now() - started)) * 1000);
  }
  rates.sort((a, b) => a - b);
  return Math.round(rates[rates.length >> 1] ?? 0);
}

/** One request in both encodings: traces of four spans, each a chat call as OpenTelemetry's conventions describe it. */
async function makeBodies(count: number): Promise<{ protobuf: Uint8Array; json: Uint8Array }> {
  const exporter = new InMemorySpanExporter();
  const resource = resourceFromAttributes({
    'service.name': 'support-bot',
    'service.version': '2.14.0',
    'deployment.environment.name': 'production',
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.name': 'opentelemetry',
    'telemetry.sdk.version': '2.12.1',
    'host.name': 'worker-7f9c',
    'process.pid': 4211,
  });
  const provider = new TracerProvider({ resource, spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const tracer = provider.getTracer('@opentelemetry/instrumentation-openai', '0.5.0');
  let parent = context.active();
  for (let i = 0; i < count; i++) {
    const root = i % 4 === 0 ? context.active() : parent;
    const span = tracer.startSpan('chat gpt-4o-mini', { kind: SpanKind.CLIENT, attributes: chat(i) }, root);
    if (i % 4 === 0) parent = trace.setSpan(context.active(), span);
    if (i % 16 === 0) span.addEvent('first_token', { 'gen_ai.latency': 0.412 });
    span.setStatus({ code: SpanStatusCode.OK });
    span.end();
  }
  await provider.forceFlush();
  const spans = exporter.getFinishedSpans();
  const protobuf = ProtobufTraceSerializer.serializeRequest(spans);
  const json = JsonTraceSerializer.serializeRequest(spans);
  if (protobuf === undefined || json === undefined) throw new Error('the exporter made no request');
  return { protobuf, json };
}

function chat(i: number): Record<string, string | number | string[]> {
  const question = `Customer ${i} asks: my order ${100_000 + i} has not arrived yet, although the tracking page says delivered. `;
  const answer = `I am sorry to hear that. I have looked at order ${100_000 + i}: the carrier left it with a neighbour. `;
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o-mini',
    'gen_ai.response.model': 'gpt-4o-mini-2024-07-18',
    'gen_ai.response.id': `chatcmpl-${(i * 7919).toString(36)}-${i}`,
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.request.temperature': 0.2,
    'gen_ai.request.max_tokens': 1024,
    'gen_ai.usage.input_tokens': 412 + (i % 100),
    'gen_ai.usage.output_tokens': 96 + (i % 50),
    'gen_ai.usage.cache_read.input_tokens': 128,
    'gen_ai.conversation.id': `conversation-${i >> 4}`,
    'gen_ai.system_instructions': JSON.stringify([
      { type: 'text', content: 'You are the support assistant of a mail-order shop. Be brief, kind and exact.' },
    ]),
    'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: question.repeat(8) }] }]),
    'gen_ai.output.messages': JSON.stringify([
      { role: 'assistant', parts: [{ type: 'text', content: answer.repeat(6) }], finish_reason: 'stop' },
    ]),
    'user.id': `user-${i % 40}`,
    'server.address': 'api.openai.com',
    'server.port': 443,
  };
}
