import { parseJsonText } from '../../engine/json-text.js';

const FENCE = '```';
const LANGUAGE = 'json';

/**
 * The JSON of a model's answer, also where a Markdown fence stands around it: models that know no structured output like
 * to wrap it. Looks at each character once, whatever the answer is.
 * @throws SyntaxError, JsonBoundError
 */
export function answerJson(answer: string): unknown {
  return parseJsonText(withoutFence(answer));
}

function withoutFence(answer: string): string {
  const text = answer.trim();
  if (text.length < 2 * FENCE.length || !text.startsWith(FENCE) || !text.endsWith(FENCE)) return text;
  const inner = text.slice(FENCE.length, -FENCE.length);
  return inner.startsWith(LANGUAGE) ? inner.slice(LANGUAGE.length) : inner;
}
