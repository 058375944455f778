import { REQUEST_SECONDS, type MetricMaker } from './maker.js';

/** Requests and calls of clients. */
export function requestMetrics({ histogram, counter }: MetricMaker) {
  return {
    httpRequestDuration: histogram(
      'http_request_duration_seconds',
      'Duration from HTTP request to response, by method, route and status.',
      REQUEST_SECONDS,
      ['method', 'route', 'status'],
    ),
    rpcDuration: histogram(
      'rpc_duration_seconds',
      'Duration from gRPC call to response, by method and status code.',
      REQUEST_SECONDS,
      ['method', 'code'],
    ),
    defects: counter(
      'spanhouse_defects_total',
      'Requests and calls that met an internal error. Each is a defect; the log has it in full.',
    ),
  };
}
