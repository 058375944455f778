import { Type } from '@sinclair/typebox';
import { choice, text, UUID, whole } from './kinds.js';

/** The first project, metrics, log lines and own traces. */
export const operationSettings = {
  SPANHOUSE_INIT_PROJECT_ID: Type.Optional(
    text({
      pattern: UUID,
      must: 'be a UUID',
      description:
        'Id of a project that the server creates at startup if it does not exist. Also set `SPANHOUSE_INIT_API_KEY`.',
    }),
  ),
  SPANHOUSE_INIT_API_KEY: Type.Optional(
    text({
      pattern: '^[!-~]{8,256}$',
      must: 'be 8 to 256 printable ASCII characters without spaces',
      secret: true,
      description:
        'API key of the project `SPANHOUSE_INIT_PROJECT_ID` that the server creates at startup if it does not exist.',
    }),
  ),
  METRICS_TOKEN: Type.Optional(
    text({
      pattern: '^[!-~]+$',
      must: 'be printable ASCII characters without spaces',
      secret: true,
      description: 'If set, `/metrics` requires `Authorization: Bearer <token>`.',
    }),
  ),
  METRICS_PROJECT_SERIES: whole({
    default: 0,
    minimum: 0,
    maximum: 100_000,
    description:
      'Pairs of project and model for which `/metrics` has spans, errors, cost and tokens. Further ones are counted together, under ' +
      '`other`. Whoever may read `/metrics` then sees ids of projects and names of models. 0: none.',
  }),
  LOG_LEVEL: choice(['error', 'warn', 'info', 'debug', 'silent'], {
    default: 'info',
    description: 'Lowest level of log lines to write. More severe ones are written too.',
  }),
  LOG_FORMAT: Type.Optional(
    choice(['pretty', 'json'], {
      defaultText: '`pretty` on a terminal, else `json`',
      description: 'Format of log lines, which are written to standard output.',
    }),
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    text({
      pattern: '^(?!.*/v1/traces/*$)https?://[^\\s/?#]+[^\\s?#]*$',
      must: 'be the address before /v1/traces: an http:// or https:// URL without query or fragment, such as http://localhost:4318',
      defaultText: 'off',
      description:
        'Where the server sends traces of its own work, by OTLP over HTTP: the address before `/v1/traces`. Unset: ' +
        'the server does not trace itself.',
    }),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: Type.Optional(
    text({
      pattern:
        "^\\s*[A-Za-z0-9!#$%&'*+.^_`|~-]+\\s*=([^,;%]|%[0-9A-Fa-f]{2})*(,\\s*[A-Za-z0-9!#$%&'*+.^_`|~-]+\\s*=([^,;%]|%[0-9A-Fa-f]{2})*)*$",
      must: 'be names and percent-encoded values, such as Authorization=Bearer%20secret, separated by commas',
      secret: true,
      description: 'Headers to send with these traces, such as `Authorization=Bearer%20…`, separated by commas.',
    }),
  ),
  OTEL_SERVICE_NAME: text({ default: 'spanhouse', description: 'Name of the server in its own traces.' }),
  OTEL_TRACES_SAMPLER: choice(
    [
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ],
    {
      default: 'parentbased_always_on',
      description:
        'Which requests the server traces. Sampling decisions of callers are ignored, so `parentbased_` makes no ' +
        'difference.',
    },
  ),
  OTEL_TRACES_SAMPLER_ARG: Type.Number({
    default: 1,
    minimum: 0,
    maximum: 1,
    must: 'be a number from 0 to 1',
    description: 'Fraction of requests that `traceidratio` traces, such as 0.1.',
  }),
  OTEL_SDK_DISABLED: choice(['true', 'false'], {
    default: 'false',
    description: '`true`: the server does not trace itself, regardless of other settings.',
  }),
};
