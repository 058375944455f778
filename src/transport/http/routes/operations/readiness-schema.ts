import { Type, type Static } from '@sinclair/typebox';

export const Readiness = Type.Object(
  {
    status: Type.Union([Type.Literal('ready'), Type.Literal('degraded'), Type.Literal('unavailable')], {
      description: 'Whether requests can be served. `degraded`: some can; `checks` say which store fails.',
    }),
    checks: Type.Record(Type.String(), Type.String(), {
      description:
        'Per store `ok`, or why it does not answer; of `disk`, why spans are refused. While only `clickhouse` fails, writes are taken and reads are refused.',
    }),
  },
  { description: 'Readiness.' },
);
export type Readiness = Static<typeof Readiness>;
