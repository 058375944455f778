import { JsonBoundError, parseJsonText } from '../engine/json-text.js';

/*
 * Outputs of tasks are any JSON, and are stored as texts: evaluators of a client get back what the task made, a text as a text also
 * where it says what JSON is. Such a text ends with a line feed, which nobody sees.
 */

/** What is stored of an output: a text, or JSON that is written as text. */
export function storedOutput(output: unknown): unknown {
  return typeof output === 'string' && parsed(output) !== undefined ? `${output}\n` : output;
}

/** The output that a stored text stands for. */
export function outputOf(text: string): unknown {
  if (text === '') return null;
  const value = parsed(text);
  if (value === undefined) return text;
  return text.endsWith('\n') ? text.slice(0, -1) : value;
}

/** Undefined: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonBoundError) return undefined;
    throw error;
  }
}
