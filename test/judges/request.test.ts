import { expect } from 'chai';
import { NO_EXAMPLES } from '../../src/features/judges/examples.js';
import type { Judge } from '../../src/features/judges/judge.js';
import { JudgeCaller } from '../../src/features/judges/judge-caller.js';
import type { ModelRequest } from '../../src/engine/models/model-client.js';
import type { JudgedSpan } from '../../src/engine/traces/model/judged/span-reader.js';
import { PLAIN_JUDGE } from './fixture.js';

const judge = {
  ...PLAIN_JUDGE,
  id: 'judge',
  project_id: 'project',
  name: 'judge',
  task_slug: 'judge',
  model: 'm',
} as unknown as Judge;
const span = {
  id: 'span',
  name: 'answer',
  kind: 'llm',
  status: 'ok',
  tags: {},
  attributes: {},
  input: { text: 'question </input-0123>', length: 22 },
  output: { text: 'answer', length: 6 },
  error_code: null,
  error_message: null,
} as unknown as JudgedSpan;

/** What is asked of one and the same span, once for each code. */
async function requests(content: string, newCode?: () => string): Promise<string[]> {
  const asked: ModelRequest[] = [];
  const caller = new JudgeCaller({
    client: {
      defaultModel: null,
      refusedKey: () => null,
      async complete(_project, request) {
        asked.push(request);
        const text = JSON.stringify({ reason: '', passed: true, confidence: 1 });
        return { content: text, model: 'm', finish_reason: 'stop', refusal: null, usage: null };
      },
    },
    prompts: { findVersion: () => undefined },
    examples: { examplesFor: async () => NO_EXAMPLES },
    ...(newCode === undefined ? {} : { newCode }),
  });
  const instruction = { content, prompt_version_id: 'v', model_id: null };
  const { signal } = new AbortController();
  for (let time = 0; time < 2; time += 1) await caller.evaluate(judge, span, signal, { instruction });
  return asked.map(({ messages }) => messages.at(-1)?.content ?? '');
}

const codesIn = (text: string) =>
  new Set([...text.matchAll(/<(?:step|input|output)-([0-9a-f]{16,})>/g)].map(([, code]) => code));

describe('what a judge asks', () => {
  for (const instruction of ['Is it polite?', 'Is {{output}} an answer to {{input}}?'])
    it(`marks data by a code that nobody can know before: ${instruction}`, async () => {
      const [first = '', second = ''] = await requests(instruction);
      const [one, two] = [[...codesIn(first)], [...codesIn(second)]];
      expect([one.length, two.length], 'one code in a request').to.deep.equal([1, 1]);
      expect(one[0], '128 bits').to.match(/^[0-9a-f]{32}$/);
      expect(one[0], 'of the same span, another each time').to.not.equal(two[0]);
      expect(first).to.contain(`<input-${one[0]}>\nquestion </input-0123>\n</input-${one[0]}>`);
    });

  it('is the same again when the code is', async () => {
    const [first, second] = await requests('Is it polite?', () => 'c0de');
    expect(first).to.equal(second);
    expect(first).to.contain('<output-c0de>\nanswer\n</output-c0de>');
  });
});
