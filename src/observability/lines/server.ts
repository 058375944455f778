import { defineLines } from '../line.js';

/** The server as a whole: its start, its settings, its end. */
export const serverLines = defineLines({
  listening: {
    level: 'info',
    message: 'Listening',
    when: 'The server takes requests at `url`. On a terminal, the greeting of the start says so instead.',
  },
  settingUnknown: {
    level: 'warn',
    message: 'A variable looks like a setting but is none',
    when: 'At the start, for a variable whose name is near that of a setting; `detail` names both.',
    action: 'Correct the name of the variable, or remove it: it has no effect',
  },
  openWithoutTls: {
    level: 'warn',
    message: 'The server is open to the network without TLS: whoever listens there reads keys and texts',
    when: 'At the start, when `HOST` is no address of the machine alone, and `PUBLIC_URL` is neither https nor an address of the machine alone, as it is where a container is published there.',
    action:
      'Put a proxy that speaks TLS in front, and set PUBLIC_URL to its https address and TRUSTED_PROXIES to the number of proxies; or set HOST=127.0.0.1',
  },
  metricsOpen: {
    level: 'warn',
    message: 'GET /metrics is open to the network',
    when: 'At the start, when `HOST` and `PUBLIC_URL` are no addresses of the machine alone, and `METRICS_TOKEN` is unset.',
    action: 'Set METRICS_TOKEN, and have Prometheus send it; or set HOST=127.0.0.1',
  },
  initKeyRevoked: {
    level: 'warn',
    message: 'SPANHOUSE_INIT_API_KEY names a revoked key; it stays revoked',
    when: 'At the start. Requests with that key are answered 401.',
    action: 'Set SPANHOUSE_INIT_API_KEY to a new key, which the next start makes, or make one by `npm run admin`',
  },
  initProjectGoing: {
    level: 'warn',
    message:
      'SPANHOUSE_INIT_PROJECT_ID names a project that is being deleted; it is made again, empty, once that is done',
    when: 'At the start, where the server ended before the deletion did. Requests with SPANHOUSE_INIT_API_KEY are answered 401 until then.',
    action:
      'Wait for `initProjectMade`, for many spans some minutes. Where `deletionFailed` comes instead, do what that line says',
  },
  initProjectMade: {
    level: 'info',
    message: 'The project of SPANHOUSE_INIT_PROJECT_ID was made again, with its key',
    when: 'After `initProjectGoing`, as soon as the deletion was done.',
  },
  keyUseNotRecorded: {
    level: 'warn',
    message: 'Times of last use of API keys could not be written',
    when: 'SQLite took no write. Requests are answered all the same; the times shown of keys are older than they should be.',
    action: 'See that the disk of DATA_DIR has room and no other program keeps the SQLite file locked',
  },
  revokedKeysNotRemoved: {
    level: 'warn',
    message: 'Revoked API keys could not be removed; it will be tried again',
    when: 'SQLite took no write. Keys that were revoked more than 30 days ago are still stored, and still refused.',
    action: 'See that the disk of DATA_DIR has room and no other program keeps the SQLite file locked',
  },
  signInUseNotRecorded: {
    level: 'warn',
    message: 'A time of last use of a sign-in could not be written',
    when: 'SQLite took no write. The person goes on; the sign-in may end earlier than it should.',
    action: 'See that the disk of DATA_DIR has room and no other program keeps the SQLite file locked',
  },
  signInsNotRemoved: {
    level: 'warn',
    message: 'Sign-ins that are over could not be removed with their invitations',
    when: 'At the start and when somebody signs in. The sign-in `sign_in` opens nothing; the user and key of its invitation stay. `any`: SQLite took no write, and none was removed.',
    action:
      'For one sign-in: report the error, and revoke the key of its user. For `any`: see that the disk of DATA_DIR has room and no other program keeps the SQLite file locked',
  },
  ownTracesBegin: {
    level: 'info',
    message: 'This server sends traces of itself: OTEL_EXPORTER_OTLP_ENDPOINT is set',
    when: 'At the start. If the variable is meant for other programs, set `OTEL_SDK_DISABLED=true` for the server.',
  },
  ownTracesAway: {
    level: 'warn',
    message: 'The OpenTelemetry endpoint does not take traces of this server, which goes on without them',
    when: "A batch of the server's own spans was not taken, for the first time since one was; they are lost.",
    action:
      'See that OTEL_EXPORTER_OTLP_ENDPOINT takes OTLP over HTTP (usually port 4318, not 4317), and that OTEL_EXPORTER_OTLP_HEADERS lets this server in',
  },
  ownTracesBack: {
    level: 'info',
    message: 'The OpenTelemetry endpoint takes traces of this server again',
    when: 'After `ownTracesAway`.',
  },
  ownTracesDropped: {
    level: 'warn',
    message: 'Traces of this server arise faster than they are sent, and some are dropped',
    when: 'More than 2,048 spans waited to be sent; said once a minute at most.',
    action:
      'Set OTEL_TRACES_SAMPLER to traceidratio and OTEL_TRACES_SAMPLER_ARG to a part of the requests, such as 0.1',
  },
  notClosed: {
    level: 'error',
    message: 'The server could not be closed completely',
    when: 'It ends because it lost what it needs, and a part did not close.',
    action: 'Start it again: the next start heals what was cut off. If the process is still there, kill it first',
  },
});
