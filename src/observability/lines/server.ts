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
  initKeyRevoked: {
    level: 'warn',
    message: 'SPANHOUSE_INIT_API_KEY names a revoked key; it stays revoked',
    when: 'At the start. Requests with that key are answered 401.',
    action: 'Set SPANHOUSE_INIT_API_KEY to a new key, which the next start makes, or make one by `npm run admin`',
  },
  keyUseNotRecorded: {
    level: 'warn',
    message: 'Times of last use of API keys could not be written',
    when: 'SQLite took no write. Requests are answered all the same; the times shown of keys are older than they should be.',
    action: 'See that the disk of DATA_DIR has room and no other program keeps the SQLite file locked',
  },
  signInUseNotRecorded: {
    level: 'warn',
    message: 'A time of last use of a sign-in could not be written',
    when: 'SQLite took no write. The person goes on; the sign-in may end earlier than it should.',
    action: 'See that the disk of DATA_DIR has room and no other program keeps the SQLite file locked',
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
