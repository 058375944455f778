import { Type, type Static } from '@sinclair/typebox';

export const Readiness = Type.Object(
  {
    status: Type.Union([Type.Literal('ready'), Type.Literal('unavailable')], {
      description: 'Whether requests can be served.',
    }),
    checks: Type.Record(Type.String(), Type.String(), { description: 'Per store `ok`, or why it does not answer.' }),
  },
  { description: 'Readiness.' },
);
export type Readiness = Static<typeof Readiness>;
