import { expect } from 'chai';
import { FeedbackInput } from '../../src/features/feedback/schema.js';
import { SpanInput } from '../../src/engine/traces/model/span/schema.js';
import { EvaluationInput, JudgeInput } from '../../src/features/judges/schema.js';
import { compile } from '../../src/engine/validation/validation.js';

/** Each object whose keys clients choose: its schema, where it stands, and a value that fits none of its keys. */
const objects = [
  { schema: SpanInput, members: ['tags'], misfit: [] },
  { schema: JudgeInput, members: ['filters', 'tags'], misfit: [] },
  { schema: EvaluationInput, members: ['criteria_scores'], misfit: { score: 'high' } },
  { schema: FeedbackInput, members: ['criteria_feedback'], misfit: { expected_score: 'high' } },
] as const;

describe('objects whose keys clients choose', () => {
  for (const { schema, members, misfit } of objects)
    for (const key of ['plain', 'with a\nline break', '\r', '\u2028', ''])
      it(`check the value of the key ${JSON.stringify(key)} of ${members.join('.')}`, () => {
        const body = members.reduceRight<unknown>((inner, name) => ({ [name]: inner }), { [key]: misfit });
        const pointers = compile(schema)
          .issues(body)
          .map(({ pointer }) => pointer);
        const pointer = `/${[...members, key].join('/')}`;
        expect(pointers.filter((found) => found === pointer || found.startsWith(`${pointer}/`))).to.have.length(1);
      });
});
