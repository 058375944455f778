import { expect } from 'chai';
import { isCompletionOf, type PromptIdentity } from '../../src/engine/traces/model/prompts/completion.js';

const prompt: PromptIdentity = {
  id: 'a0000000-0000-4000-8000-000000000001',
  slug: 'support/Answer',
  versions: new Map([
    ['b0000000-0000-4000-8000-000000000001', 1],
    ['b0000000-0000-4000-8000-000000000002', 2],
  ]),
};
const other = 'c0000000-0000-4000-8000-000000000001';

describe('completions of a prompt', () => {
  const named: [string, Record<string, unknown>][] = [
    ['dotted slug', { 'zeroeval.prompt_slug': prompt.slug }],
    ['slug in the object', { zeroeval: { prompt_slug: prompt.slug } }],
    ['dotted task', { 'zeroeval.task': prompt.slug }],
    ['task in the object', { zeroeval: { task: prompt.slug } }],
    ['task', { task: prompt.slug }],
    ['prompt_slug', { prompt_slug: prompt.slug }],
    ['id as task', { task: prompt.id }],
    ['id in upper case', { prompt_slug: prompt.id.toUpperCase() }],
    ['dotted version', { 'zeroeval.prompt_version_id': [...prompt.versions.keys()][0] }],
    ['version in the object', { zeroeval: { prompt_version_id: [...prompt.versions.keys()][1] } }],
    ['version in upper case', { prompt_version_id: [...prompt.versions.keys()][1]?.toUpperCase() }],
    ['version beside another task', { task: 'another', prompt_version_id: [...prompt.versions.keys()][0] }],
  ];
  for (const [name, attributes] of named)
    it(`are named by ${name}`, () => {
      expect(isCompletionOf({ model: 'm', ...attributes }, prompt)).to.equal(true);
    });

  const unnamed: [string, Record<string, unknown>][] = [
    ['nothing', {}],
    ['another slug', { task: 'support/answer' }],
    ['a longer slug', { prompt_slug: `${prompt.slug}2` }],
    ['another version', { prompt_version_id: other }],
    ['a version where a slug belongs', { task: [...prompt.versions.keys()][0] }],
    ['the prompt where a version belongs', { prompt_version_id: prompt.id }],
    ['an object instead of a text', { task: { task: prompt.slug } }],
    ['a list instead of an object', { zeroeval: [{ task: prompt.slug }] }],
    ['null', { zeroeval: null, task: null }],
    ['an attribute of another name', { name: prompt.slug, zeroeval: { name: prompt.slug } }],
  ];
  for (const [name, attributes] of unnamed)
    it(`are not named by ${name}`, () => {
      expect(isCompletionOf(attributes, prompt)).to.equal(false);
    });
});
