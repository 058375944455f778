import { Type, type Static } from '@sinclair/typebox';

export const Readiness = Type.Object(
  {
    status: Type.Union([Type.Literal('ready'), Type.Literal('degraded'), Type.Literal('unavailable')], {
      description: 'Whether requests can be served. `degraded`: reads and deletions can, spans are refused.',
    }),
    checks: Type.Record(Type.String(), Type.String(), {
      description: 'Per store `ok`, or why it does not answer; of `disk`, why spans are refused.',
    }),
  },
  { description: 'Readiness.' },
);
export type Readiness = Static<typeof Readiness>;
