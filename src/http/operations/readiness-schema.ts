import { Type, type Static } from '@sinclair/typebox';

export const Readiness = Type.Object(
  {
    status: Type.Union([Type.Literal('ready'), Type.Literal('degraded'), Type.Literal('unavailable')], {
      description:
        'Whether the server can serve requests. `degraded`: it can serve some; `checks` say which store fails.',
    }),
    checks: Type.Record(Type.String(), Type.String(), {
      description:
        'Per store `ok`, or why it does not respond; for `disk`, why spans are refused. If only `clickhouse` fails, ' +
        'writes are accepted and reads are refused.',
    }),
  },
  { description: 'Readiness.' },
);
export type Readiness = Static<typeof Readiness>;
