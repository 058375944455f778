import type { Metrics } from '../metrics.js';
import { catalogOf, signal, type LineName, type LogEvent } from '../signal.js';

/** The server as a whole: its start, its settings, its end. */
export const serverCatalog = catalogOf({
  listening: signal<{ url: string; grpcPort: number | null }>({
    level: 'info',
    message: 'Listening',
    when: 'The server accepts requests at `url`. On a terminal, the startup message says so instead.',
    log: ({ url, grpcPort }) => ({ url, ...(grpcPort === null ? {} : { grpc_port: grpcPort }) }),
  }),
  settingUnknown: signal<{ detail: string }>({
    level: 'warn',
    message: 'Unknown variable looks like a setting',
    when: 'At start, for a variable whose name resembles a setting; `detail` names both.',
    action: 'Correct or remove the variable: it has no effect',
    log: ({ detail }) => ({ detail }),
  }),
  openWithoutTls: signal<{ host: string }>({
    level: 'warn',
    message: 'The server is open to the network without TLS: others on the network can read keys and texts',
    when: 'At start, if `HOST` is not a loopback address, and `PUBLIC_URL` is neither https nor a loopback address, as when a container publishes its port locally.',
    action:
      'Put a TLS-terminating proxy in front, and set PUBLIC_URL to its https address and TRUSTED_PROXIES to the number of proxies; or set HOST=127.0.0.1',
    log: ({ host }) => ({ host }),
  }),
  metricsOpen: signal<{ host: string }>({
    level: 'warn',
    message: 'GET /metrics is open to the network',
    when: 'At start, if `HOST` and `PUBLIC_URL` are not loopback addresses, and `METRICS_TOKEN` is unset.',
    action: 'Set METRICS_TOKEN, and have Prometheus send it; or set HOST=127.0.0.1',
    log: ({ host }) => ({ host }),
  }),
  initKeyRevoked: signal({
    level: 'warn',
    message: 'SPANHOUSE_INIT_API_KEY is a revoked key; it stays revoked',
    when: 'At start. Requests with that key get 401.',
    action: 'Set SPANHOUSE_INIT_API_KEY to a new key, which the next start creates, or create one with `npm run admin`',
  }),
  initProjectGoing: signal<{ project: string | null }>({
    level: 'warn',
    message:
      'SPANHOUSE_INIT_PROJECT_ID names a project that is being deleted; the server recreates it, empty, after the deletion',
    when: 'At start, if the server stopped before the deletion finished. Until then, requests with SPANHOUSE_INIT_API_KEY get 401.',
    action:
      'Wait for `initProjectMade`, with many spans for some minutes. If `deletionFailed` appears instead, do what that line says',
    log: ({ project }) => ({ project }),
  }),
  initProjectMade: signal<{ project: string | null }>({
    level: 'info',
    message: 'Recreated the project of SPANHOUSE_INIT_PROJECT_ID, with its key',
    when: 'After `initProjectGoing`, once the deletion is done.',
    log: ({ project }) => ({ project }),
  }),
  keyUseNotRecorded: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not record when API keys were last used',
    when: 'SQLite accepted no write. Requests are still served; the times shown for keys are out of date.',
    action: 'Check that the disk of DATA_DIR has space and no other program locks the SQLite file',
    log: ({ error }) => ({ error }),
  }),
  revokedKeysNotRemoved: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not remove revoked API keys; retrying',
    when: 'SQLite accepted no write. Keys revoked more than 30 days ago are still stored, and still rejected.',
    action: 'Check that the disk of DATA_DIR has space and no other program locks the SQLite file',
    log: ({ error }) => ({ error }),
  }),
  auditNotShortened: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not remove old entries of the audit log; retrying',
    when: 'SQLite accepted no write. Entries older than `AUDIT_DAYS` are still there.',
    action: 'Check that the disk of DATA_DIR has space and no other program locks the SQLite file',
    log: ({ error }) => ({ error }),
  }),
  signInUseNotRecorded: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not record when a session was last used',
    when: 'SQLite accepted no write. The user stays signed in, but the session may expire too early.',
    action: 'Check that the disk of DATA_DIR has space and no other program locks the SQLite file',
    log: ({ error }) => ({ error }),
  }),
  singleSignOnFailed: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Single sign-on failed',
    when: 'The OpenID Connect provider did not respond, or its answer was not valid. The person sees a page that says so.',
    action:
      'Check OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET, the clocks of both machines, and the log of the provider',
    log: ({ error }) => ({ error }),
  }),
  signInsNotRemoved: signal<{ signIn: string | null; error: unknown }>({
    level: 'warn',
    message: 'Could not remove ended sessions and their invitations',
    when: 'At start and at sign-ins. The session `sign_in` grants no access; the user and key of its invitation remain. `any`: SQLite accepted no write, and none was removed.',
    action:
      'For one session: report the error, and revoke the key of its user. For `any`: check that the disk of DATA_DIR has space and no other program locks the SQLite file',
    log: ({ signIn, error }) => ({ sign_in: signIn ?? 'any', error }),
  }),
  ownTracesBegin: {
    level: 'info',
    message: 'This server exports traces of itself: OTEL_EXPORTER_OTLP_ENDPOINT is set',
    when: 'At start. If the variable is meant for other programs, set `OTEL_SDK_DISABLED=true` for the server.',
  },
  ownTracesAway: {
    level: 'warn',
    message: 'The OpenTelemetry endpoint rejects traces of this server, which continues without them',
    when: "A batch of the server's own spans failed, for the first time since one succeeded; its spans are lost.",
    action:
      'Check that OTEL_EXPORTER_OTLP_ENDPOINT accepts OTLP over HTTP (usually port 4318, not 4317), and that OTEL_EXPORTER_OTLP_HEADERS authorizes this server',
  },
  ownTracesBack: {
    level: 'info',
    message: 'The OpenTelemetry endpoint accepts traces of this server again',
    when: 'After `ownTracesAway`.',
  },
  ownTracesDropped: {
    level: 'warn',
    message: 'This server creates traces of itself faster than it can send them; some are dropped',
    when: 'More than 2,048 spans were waiting; logged at most once a minute.',
    action: 'Set OTEL_TRACES_SAMPLER to traceidratio and OTEL_TRACES_SAMPLER_ARG to a share of requests, such as 0.1',
  },
  notClosed: signal<{ error: unknown }>({
    level: 'error',
    message: 'The server did not shut down cleanly',
    when: 'It is stopping because it lost something it needs, and a component did not close.',
    action:
      'Start it again: the next start repairs what was interrupted. If the process is still running, kill it first',
    log: ({ error }) => ({ error }),
  }),
});

/** Drops come in thousands a second; one line in this time says so. */
const DROPS_LOGGED_EVERY_MS = 60_000;

/** Spans of the server's own traces, and what became of them: that the endpoint fails is logged until it takes spans again. */
export function deriveServer(log: LogEvent<LineName<typeof serverCatalog>>, metrics: Metrics) {
  let endpoint = '';
  let away = false;
  let dropsLogged = -Infinity;
  return {
    ownTracesBegin(begun: { endpoint: string }): void {
      endpoint = begun.endpoint;
      log('ownTracesBegin', { endpoint });
    },
    ownSpansSent({ count }: { count: number }): void {
      metrics.ownSpans.inc({ result: 'sent' }, count);
      if (away) log('ownTracesBack', { endpoint });
      away = false;
    },
    ownSpansFailed({ count, reason }: { count: number; reason: string }): void {
      metrics.ownSpans.inc({ result: 'failed' }, count);
      log('ownTracesAway', { endpoint, reason, spans: count }, away);
      away = true;
    },
    ownSpansDropped({ count }: { count: number }): void {
      metrics.ownSpans.inc({ result: 'dropped' }, count);
      if (performance.now() - dropsLogged < DROPS_LOGGED_EVERY_MS) return;
      dropsLogged = performance.now();
      log('ownTracesDropped', { endpoint });
    },
  };
}
