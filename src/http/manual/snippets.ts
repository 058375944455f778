/**
 * Programs that send a first span, for the manual and the console: what the server's address and a key make complete. Each
 * runs as it stands.
 */
export interface SnippetParts {
  /** Address of the server, without a slash at its end. */
  readonly url: string;
  readonly key: string;
}

export interface Snippet {
  readonly name: string;
  readonly label: string;
  /** What is to be installed before; null: nothing. */
  readonly install: string | null;
  /** As Markdown names it. */
  readonly language: string;
  /** Where the program goes. */
  readonly file: string;
  readonly code: (parts: SnippetParts) => string;
}

/** What stands in Markdown, where neither is known; a server shows its own address instead. */
export const SNIPPETS_WRITTEN: SnippetParts = { url: 'http://127.0.0.1:4318', key: '<your key>' };

const environment = ({ url, key }: SnippetParts) => `export OTEL_EXPORTER_OTLP_ENDPOINT=${url}
export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20${key}"
export OTEL_TRACES_EXPORTER=otlp OTEL_METRICS_EXPORTER=none OTEL_LOGS_EXPORTER=none`;

export const SNIPPETS: readonly Snippet[] = [
  {
    name: 'curl',
    label: 'curl',
    install: null,
    language: 'sh',
    file: 'a terminal',
    code: ({ url, key }) => `curl -sS ${url}/spans \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' -d '[{
    "trace_id": "'$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')'",
    "name": "answer question",
    "kind": "llm",
    "started_at": "'$(date -u +%Y-%m-%dT%H:%M:%S.000Z)'",
    "ended_at": "'$(date -u +%Y-%m-%dT%H:%M:%S.250Z)'",
    "status": "ok",
    "input_data": "What is a span?",
    "output_data": "One timed step of a trace.",
    "attributes": { "provider": "openai", "model": "gpt-4o", "inputTokens": 12, "outputTokens": 9 }
  }]'`,
  },
  {
    name: 'python',
    label: 'Python',
    install: 'pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http',
    language: 'python',
    file: 'app.py',
    code: ({ url, key }) => `from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

exporter = OTLPSpanExporter(endpoint="${url}/v1/traces", headers={"authorization": "Bearer ${key}"})
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(exporter))
trace.set_tracer_provider(provider)

with trace.get_tracer("first").start_as_current_span("answer question") as span:
    span.set_attributes({
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 9,
    })
provider.shutdown()  # sends what is left`,
  },
  {
    name: 'typescript',
    label: 'TypeScript',
    install: 'npm install @opentelemetry/api @opentelemetry/sdk-node',
    language: 'ts',
    file: 'app.mts',
    code: ({ url, key }) => `import { trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';

process.env.OTEL_EXPORTER_OTLP_ENDPOINT = '${url}';
process.env.OTEL_EXPORTER_OTLP_HEADERS = 'authorization=Bearer%20${key}';
process.env.OTEL_METRICS_EXPORTER = process.env.OTEL_LOGS_EXPORTER = 'none';
const sdk = new NodeSDK({ serviceName: 'first' });
sdk.start();

trace.getTracer('first').startActiveSpan('answer question', (span) => {
  span.setAttributes({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.usage.input_tokens': 12,
    'gen_ai.usage.output_tokens': 9,
  });
  span.end();
});
await sdk.shutdown(); // sends what is left`,
  },
  {
    name: 'opentelemetry',
    label: 'OpenTelemetry',
    install: null,
    language: 'sh',
    file: 'the environment of any OpenTelemetry SDK or instrumentation',
    code: environment,
  },
  {
    name: 'ai-sdk',
    label: 'AI SDK',
    install: 'npm install ai @ai-sdk/openai @ai-sdk/otel @opentelemetry/sdk-node',
    language: 'ts',
    file: 'app.mts, with your OpenAI key in OPENAI_API_KEY',
    code: ({ url, key }) => `import { openai } from '@ai-sdk/openai';
import { OpenTelemetry } from '@ai-sdk/otel';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { generateText, registerTelemetry } from 'ai';

process.env.OTEL_EXPORTER_OTLP_ENDPOINT = '${url}';
process.env.OTEL_EXPORTER_OTLP_HEADERS = 'authorization=Bearer%20${key}';
process.env.OTEL_METRICS_EXPORTER = process.env.OTEL_LOGS_EXPORTER = 'none';
const sdk = new NodeSDK({ serviceName: 'first' });
sdk.start();
registerTelemetry(new OpenTelemetry());

const { text } = await generateText({
  model: openai.chat('gpt-4o-mini'),
  prompt: 'What is a span?',
  telemetry: { functionId: 'answer-question' },
});
console.log(text);
await sdk.shutdown(); // sends what is left`,
  },
];

/** The programs as tabs of the manual, in Markdown. */
export function snippetTabs(parts: SnippetParts): string {
  const tabs = SNIPPETS.map(({ label, install, language, file, code }) =>
    [
      `#### ${label}`,
      ...(install === null ? [] : [fenced('sh', install)]),
      `In ${file}:`,
      fenced(language, code(parts)),
    ].join('\n\n'),
  );
  return tabs.join('\n\n');
}

const fenced = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;
