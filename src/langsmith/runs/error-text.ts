import { normalizeText } from '../../engine/schema/normalize.js';

/** What a text says that clients make of an exception: its class, its message, and where it was thrown. */
export interface ErrorFields {
  readonly error_code?: string;
  readonly error_message?: string;
  readonly error_stack?: string;
}

/** Where a stack begins: of Python behind the exception, without a line break; of JavaScript on the next line. */
const STACK = /Traceback \(most recent call last\):|\n {4}at /;
const CLASS = /^([A-Za-z_][\w.]{0,200}?(?:Error|Exception|Interrupt|Exit))\b/;

export function errorFields(error: string | null | undefined): ErrorFields {
  if (error == null || error === '') return {};
  const text = normalizeText(error);
  const at = text.search(STACK);
  const message = (at === -1 ? text : text.slice(0, at)).trim();
  const code = CLASS.exec(message)?.[1];
  return {
    ...(code !== undefined && { error_code: code }),
    error_message: message === '' ? text.slice(0, 1000) : message,
    ...(at !== -1 && { error_stack: text.slice(at).trim() }),
  };
}
