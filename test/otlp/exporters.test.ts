import { Metadata } from '@grpc/grpc-js';
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base';
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { expect } from 'chai';
import { bootServer, type TestServer } from '../harness/server.js';
import { startFaultProxy, type Fault, type FaultProxy } from './fault-proxy.js';
import { expectStored, recordTrace, startTelemetry, uuidOfTrace } from './telemetry.js';

describe('OTLP: real exporters with the real SDK', () => {
  let server: TestServer;
  let proxy: FaultProxy;

  before(async () => {
    server = await bootServer({ env: { OTLP_GRPC_PORT: '0' } });
    proxy = await startFaultProxy(server.url);
  });
  after(async () => {
    await proxy.stop();
    await server.dispose();
  });

  const http = (url: string, compression?: CompressionAlgorithm) => ({
    url: `${url}/v1/traces`,
    headers: { authorization: `Bearer ${server.key}` },
    // With time for all its attempts on a busy machine.
    timeoutMillis: 60_000,
    ...(compression === undefined ? {} : { compression }),
  });
  const grpc = (compression: CompressionAlgorithm) => {
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${server.key}`);
    return new GrpcExporter({ url: `http://127.0.0.1:${server.grpcPort}`, metadata, compression });
  };
  const exporters: readonly (readonly [string, () => SpanExporter])[] = [
    ['exporter-trace-otlp-http', () => new JsonExporter(http(server.url))],
    ['exporter-trace-otlp-http with gzip', () => new JsonExporter(http(server.url, CompressionAlgorithm.GZIP))],
    ['exporter-trace-otlp-proto', () => new ProtobufExporter(http(server.url))],
    ['exporter-trace-otlp-proto with gzip', () => new ProtobufExporter(http(server.url, CompressionAlgorithm.GZIP))],
    ['exporter-trace-otlp-grpc', () => grpc(CompressionAlgorithm.NONE)],
    ['exporter-trace-otlp-grpc with gzip', () => grpc(CompressionAlgorithm.GZIP)],
  ];

  for (const [name, exporter] of exporters) {
    it(`${name}: every span comes back with parent, times, status, attributes, events, links and error`, async () => {
      const telemetry = startTelemetry(exporter(), 5);
      const traceId = recordTrace(telemetry.tracer);
      await telemetry.shutdown();
      const spans = telemetry.finished();
      expect(spans).to.have.length(16);
      await expectStored(server, spans);

      const { json } = await server.request('GET', `/traces?id=${uuidOfTrace(traceId)}&service=shop&environment=test`);
      expect(json).to.have.length(1);
      expect(json[0]).to.include({ name: 'checkout 🛒', span_count: 16, status: 'error' });
    });
  }

  const faults: readonly (readonly Fault[])[] = [
    ['unavailable'],
    ['lost request'],
    ['lost answer'],
    ['lost answer', 'unavailable', 'lost answer'],
  ];
  for (const fault of faults) {
    for (const Exporter of [JsonExporter, ProtobufExporter]) {
      const encoding = Exporter === JsonExporter ? 'JSON' : 'protobuf';
      it(`${encoding}: the exporter's retries after «${fault.join(', ')}» leave nothing missing and nothing twice`, async () => {
        proxy.next(...fault);
        const telemetry = startTelemetry(new Exporter(http(proxy.url)));
        const traceId = recordTrace(telemetry.tracer);
        await telemetry.shutdown();
        expect(proxy.requests).to.equal(fault.length + 1);
        await expectStored(server, telemetry.finished());
        const { json } = await server.request('GET', `/traces?id=${uuidOfTrace(traceId)}`);
        expect(json[0]).to.include({ span_count: 16, status: 'error' });
      });
    }
  }
});
