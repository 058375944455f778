import type { Limits } from '../limits.js';
import type { Settings } from '../settings.js';

/** What operators see of the server, and how it runs. */
export function operationGroup(settings: Settings, limits: Limits) {
  return {
    /** Both null or both set. The project id is lower case. */
    init: {
      projectId: settings.SPANHOUSE_INIT_PROJECT_ID?.toLowerCase() ?? null,
      apiKey: settings.SPANHOUSE_INIT_API_KEY ?? null,
    },
    log: {
      level: settings.LOG_LEVEL,
      format: settings.LOG_FORMAT ?? (process.stdout.isTTY ? ('pretty' as const) : ('json' as const)),
    },
    /** Null: `/metrics` is open. */
    metricsToken: settings.METRICS_TOKEN ?? null,
    /** Pairs of project and model that have series of their own; 0: nothing is counted by them. */
    projectSeries: settings.METRICS_PROJECT_SERIES,
    /** Null: the server does not trace itself. */
    tracing:
      settings.OTEL_EXPORTER_OTLP_ENDPOINT === undefined || settings.OTEL_SDK_DISABLED === 'true'
        ? null
        : {
            endpoint: settings.OTEL_EXPORTER_OTLP_ENDPOINT,
            /** As they are written: `name=value,…`. */
            headers: settings.OTEL_EXPORTER_OTLP_HEADERS ?? null,
            serviceName: settings.OTEL_SERVICE_NAME,
            sampler: settings.OTEL_TRACES_SAMPLER,
            samplerArgument: settings.OTEL_TRACES_SAMPLER_ARG,
          },
    jobs: {
      atOnce: settings.JOBS_AT_ONCE,
      ofProject: limits.jobsOfProject,
      maxAttempts: limits.jobAttempts,
    },
    shutdownTimeoutSeconds: settings.SHUTDOWN_TIMEOUT_SECONDS,
  };
}
