import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { RequestType } from '../otlp/requests.js';
import { unhurried } from '../harness/program.js';

/** A span as OTLP carries it, ids in hexadecimal. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: the first of its trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: string;
  readonly error: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

interface Received {
  readonly service: string;
  readonly headers: IncomingHttpHeaders;
}

export interface TraceReceiver {
  readonly endpoint: string;
  readonly spans: ReceivedSpan[];
  readonly requests: Received[];
  /** The first span that fits, as soon as it is there. */
  received(fits: (span: ReceivedSpan) => boolean, what: string): Promise<ReceivedSpan>;
  /** Answers this from now on; default 200. */
  answer: number;
  stop(): Promise<void>;
}

/** Takes OTLP over HTTP as the published schema has it. @param port 0: any free one */
export async function startTraceReceiver(port = 0): Promise<TraceReceiver> {
  const spans: ReceivedSpan[] = [];
  const requests: Received[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      if (receiver.answer === 200 && request.url === '/v1/traces')
        take(body, (service) => requests.push({ service, headers: request.headers }), spans);
      response.writeHead(receiver.answer, { 'Content-Type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const receiver: TraceReceiver = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    answer: 200,
    async received(fits, what) {
      const until = Date.now() + unhurried(30_000);
      for (;;) {
        const found = spans.find(fits);
        if (found !== undefined) return found;
        if (Date.now() > until)
          throw new Error(`No span of ${what} came; there are ${spans.map((s) => s.name).join()}`);
        await sleep(20);
      }
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}

interface Any {
  readonly stringValue?: string;
  readonly intValue?: string;
  readonly boolValue?: boolean;
  readonly doubleValue?: number;
}
type Attributes = readonly { readonly key: string; readonly value: Any }[];
interface Decoded {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'attributes' | 'error' | 'links'> & {
        readonly attributes?: Attributes;
        readonly status?: { readonly code?: string };
        readonly links?: ReceivedSpan['links'];
      })[];
    }[];
  }[];
}

function take(body: Buffer, from: (service: string) => void, into: ReceivedSpan[]): void {
  const message = RequestType.toObject(RequestType.decode(body), { longs: String, enums: String, bytes: String });
  for (const { resource, scopeSpans } of (message as Decoded).resourceSpans) {
    from(String(plain(resource.attributes)['service.name']));
    for (const { name, kind, status, attributes, links = [], ...ids } of scopeSpans.flatMap(({ spans }) => spans))
      into.push({
        name,
        kind,
        traceId: hex(ids.traceId),
        spanId: hex(ids.spanId),
        parentSpanId: hex(ids.parentSpanId),
        error: status?.code === 'STATUS_CODE_ERROR',
        attributes: plain(attributes),
        links: links.map((link) => ({ traceId: hex(link.traceId), spanId: hex(link.spanId) })),
      });
  }
}

function hex(base64: string | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString('hex');
}

function plain(attributes: Attributes = []): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, boolValue, doubleValue } }) => [
      key,
      stringValue ?? boolValue ?? (intValue === undefined ? doubleValue : Number(intValue)),
    ]),
  );
}
