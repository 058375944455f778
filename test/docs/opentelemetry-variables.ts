/**
 * Environment variables that SDKs of OpenTelemetry read, as its specification names them:
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter and …/configuration/sdk-environment-variables.
 */
export const OPENTELEMETRY_VARIABLES: readonly string[] = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_COMPRESSION',
  'OTEL_TRACES_EXPORTER',
  'OTEL_METRICS_EXPORTER',
  'OTEL_LOGS_EXPORTER',
];
