import type { TSchema } from '@sinclair/typebox';
import { compile } from '../../engine/validation/validation.js';
import { answerJson } from './answer-json.js';

/** A model's answer that is not what was asked for; its message says why, in words for the model. */
export class InvalidAnswer extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidAnswer';
  }
}

/** The form of a model's answer, and how it is read. */
export interface AnswerForm<T> {
  /** The JSON Schema that an answer is asked for and checked by: strict, every property required. */
  readonly schema: TSchema;
  /** The answer as a value. @throws InvalidAnswer */
  read(text: string): T;
}

const MAX_ISSUES_TOLD = 5;
/** Longest text of what is wrong with an answer; names in the answer become part of it. */
const MAX_PROBLEM = 1_000;

/** Makes a form, once as compiling takes milliseconds. @param schema that of `T` */
export function answerForm<T>(schema: TSchema): AnswerForm<T> {
  const validator = compile(schema);
  return {
    schema,
    read(text) {
      const answer = parse(text);
      const issues = validator.issues(answer, '', MAX_ISSUES_TOLD);
      if (issues.length > 0)
        throw new InvalidAnswer(
          issues
            .map(({ pointer, detail }) => `${pointer === '' ? 'the answer' : pointer} ${detail}`)
            .join('; ')
            .slice(0, MAX_PROBLEM)
            .toWellFormed(),
        );
      return answer as T;
    },
  };
}

function parse(text: string): unknown {
  try {
    return answerJson(text);
  } catch {
    throw new InvalidAnswer(text.trim() === '' ? 'the answer is empty' : 'the answer is not JSON');
  }
}
