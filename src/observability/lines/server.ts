import { defineLines } from '../line.js';

/** The server as a whole: its start, its settings, its end. */
export const serverLines = defineLines({
  listening: {
    level: 'info',
    message: 'Listening',
    when: 'The server accepts requests at `url`. On a terminal, the startup greeting says so instead.',
  },
  settingUnknown: {
    level: 'warn',
    message: 'A variable looks like a setting but is none',
    when: 'At startup, for a variable whose name is similar to that of a setting; `detail` names both.',
    action: 'Correct the name of the variable, or remove it: it has no effect',
  },
  openWithoutTls: {
    level: 'warn',
    message: 'The server is open to the network without TLS: whoever listens there reads keys and texts',
    when:
      'At startup, if `HOST` is not a local address, and `PUBLIC_URL` is neither https nor a local address, as it ' +
      'is for a container that is published locally.',
    action:
      'Put a TLS-terminating proxy in front, and set PUBLIC_URL to its https address and TRUSTED_PROXIES to the ' +
      'number of proxies; or set HOST=127.0.0.1',
  },
  metricsOpen: {
    level: 'warn',
    message: 'GET /metrics is open to the network',
    when: 'At startup, if `HOST` and `PUBLIC_URL` are not local addresses, and `METRICS_TOKEN` is unset.',
    action: 'Set METRICS_TOKEN, and have Prometheus send it; or set HOST=127.0.0.1',
  },
  initKeyRevoked: {
    level: 'warn',
    message: 'SPANHOUSE_INIT_API_KEY names a revoked key; it stays revoked',
    when: 'At startup. Requests with that key get 401.',
    action: 'Set SPANHOUSE_INIT_API_KEY to a new key, which the next start creates, or create one with `npm run admin`',
  },
  initProjectGoing: {
    level: 'warn',
    message:
      'SPANHOUSE_INIT_PROJECT_ID names a project that is being deleted; it is made again, empty, once that is done',
    when:
      'At startup, if the server ended before the deletion did. Requests with SPANHOUSE_INIT_API_KEY get 401 until ' +
      'then.',
    action:
      'Wait for `initProjectMade`, some minutes if there are many spans. If `deletionFailed` comes instead, act on ' +
      'that line',
  },
  initProjectMade: {
    level: 'info',
    message: 'The project of SPANHOUSE_INIT_PROJECT_ID was made again, with its key',
    when: 'After `initProjectGoing`, as soon as the deletion is complete.',
  },
  keyUseNotRecorded: {
    level: 'warn',
    message: 'Times of last use of API keys could not be written',
    when: 'SQLite refused the write. Requests are answered anyway; the times of last use of keys are outdated.',
    action: 'Check that the disk of DATA_DIR has space and that no other program locks the SQLite file',
  },
  revokedKeysNotRemoved: {
    level: 'warn',
    message: 'Revoked API keys could not be removed; it will be tried again',
    when: 'SQLite refused the write. Keys that were revoked more than 30 days ago are still stored, and still refused.',
    action: 'Check that the disk of DATA_DIR has space and that no other program locks the SQLite file',
  },
  signInUseNotRecorded: {
    level: 'warn',
    message: 'A time of last use of a sign-in could not be written',
    when: 'SQLite refused the write. The session continues, but may end earlier than it should.',
    action: 'Check that the disk of DATA_DIR has space and that no other program locks the SQLite file',
  },
  signInsNotRemoved: {
    level: 'warn',
    message: 'Sign-ins that are over could not be removed with their invitations',
    when:
      'At startup and when a user signs in. The sign-in `sign_in` gives no access; the user and key of its ' +
      'invitation stay. `any`: SQLite refused the write, and none was removed.',
    action:
      'For one sign-in: report the error, and revoke the key of its user. For `any`: check that the disk of ' +
      'DATA_DIR has space and that no other program locks the SQLite file',
  },
  ownTracesBegin: {
    level: 'info',
    message: 'This server sends traces of itself: OTEL_EXPORTER_OTLP_ENDPOINT is set',
    when: 'At startup. If the variable is meant for other programs, set `OTEL_SDK_DISABLED=true` for the server.',
  },
  ownTracesAway: {
    level: 'warn',
    message: 'The OpenTelemetry endpoint does not take traces of this server, which goes on without them',
    when: "A batch of the server's own spans was refused, for the first time since the last success; they are lost.",
    action:
      'Check that OTEL_EXPORTER_OTLP_ENDPOINT accepts OTLP over HTTP (usually port 4318, not 4317), and that ' +
      'OTEL_EXPORTER_OTLP_HEADERS has valid credentials',
  },
  ownTracesBack: {
    level: 'info',
    message: 'The OpenTelemetry endpoint takes traces of this server again',
    when: 'After `ownTracesAway`.',
  },
  ownTracesDropped: {
    level: 'warn',
    message: 'Traces of this server arise faster than they are sent, and some are dropped',
    when: 'More than 2,048 spans waited to be sent; logged at most once a minute.',
    action:
      'Set OTEL_TRACES_SAMPLER to traceidratio and OTEL_TRACES_SAMPLER_ARG to a fraction of the requests, such as ' +
      '0.1',
  },
  notClosed: {
    level: 'error',
    message: 'The server could not be closed completely',
    when: 'The server ends because it lost what it needs, and a part did not close.',
    action: 'Restart it: the next start repairs what was interrupted. If the process still exists, kill it first',
  },
});
