import { DomainError } from '../../engine/errors.js';

/* The language in which clients of LangSmith say which runs they mean: `and(eq(run_type, "llm"), gt(latency, 5))`. */

/** A call, such as a comparison, or an argument of one. */
export type Expression =
  | { readonly is: 'call'; readonly name: string; readonly args: readonly Expression[] }
  | { readonly is: 'field'; readonly name: string }
  | { readonly is: 'value'; readonly value: string | number | boolean | null }
  | { readonly is: 'list'; readonly items: readonly Expression[] };
export type Call = Extract<Expression, { readonly is: 'call' }>;

/** Longest filter, in characters, and how far calls and arguments may go. */
export const MAX_FILTER = 10_000;
const MAX_DEPTH = 10;
const MAX_PARTS = 500;

const TOKEN =
  /\s*(?:("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|([(),[\]]))/suy;

/** A filter as it was written, or what of it is not understood. @throws DomainError `malformed` */
export function parseFilter(text: string): Call {
  const parser = new Parser(tokensOf(text));
  const parsed = parser.expression(0);
  parser.requireEnd();
  if (parsed.is !== 'call') throw refused('must be a call, such as `eq(run_type, "llm")`');
  return parsed;
}

/** That a filter is not applied, and why. */
export function refused(detail: string): DomainError {
  const issues = [{ pointer: '/filter', detail }];
  return new DomainError('malformed', `The filter cannot be applied: it ${detail}`, { issues });
}

interface Token {
  readonly is: 'text' | 'number' | 'name' | 'sign' | 'end';
  readonly text: string;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const written = text.trimEnd();
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < written.length;) {
    const from = TOKEN.lastIndex;
    const [, quoted, number, name, sign] = TOKEN.exec(written) ?? [];
    if (quoted !== undefined) tokens.push({ is: 'text', text: unquoted(quoted) });
    else if (number !== undefined) tokens.push({ is: 'number', text: number });
    else if (name !== undefined) tokens.push({ is: 'name', text: name });
    else if (sign !== undefined) tokens.push({ is: 'sign', text: sign });
    else throw refused(`is not understood from character ${from + 1} on: ${written.slice(from, from + 20)}`);
    if (tokens.length > MAX_PARTS) throw refused(`has more than ${MAX_PARTS} parts`);
  }
  return tokens;
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function unquoted(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(.)/gsu, (_all, one: string) => ESCAPED[one] ?? one);
}

const END: Token = { is: 'end', text: 'its end' };
const CONSTANTS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  expression(depth: number): Expression {
    if (depth > MAX_DEPTH) throw refused(`is nested deeper than ${MAX_DEPTH} calls`);
    const token = this.#next();
    if (token.is === 'text') return { is: 'value', value: token.text };
    if (token.is === 'number') return { is: 'value', value: Number(token.text) };
    if (token.is === 'sign' && token.text === '[') return { is: 'list', items: this.#until(']', depth) };
    if (token.is !== 'name') throw refused(`has ${token.text} where a call, a field or a value must stand`);
    const { text: name } = token;
    if (this.#peek().text === '(' && this.#peek().is === 'sign') {
      this.#at += 1;
      return { is: 'call', name: name.toLowerCase(), args: this.#until(')', depth) };
    }
    const constant = Object.hasOwn(CONSTANTS, name.toLowerCase()) ? CONSTANTS[name.toLowerCase()] : undefined;
    return constant === undefined ? { is: 'field', name } : { is: 'value', value: constant };
  }

  requireEnd(): void {
    if (this.#peek().is !== 'end') throw refused(`goes on after its end: ${this.#peek().text.slice(0, 20)}`);
  }

  #until(close: string, depth: number): Expression[] {
    const found: Expression[] = [];
    const isClosed = () => this.#peek().is === 'sign' && this.#peek().text === close;
    while (!isClosed()) {
      if (found.length > 0) this.#require(',');
      found.push(this.expression(depth + 1));
    }
    this.#at += 1;
    return found;
  }

  #require(sign: string): void {
    const { is, text } = this.#next();
    if (is !== 'sign' || text !== sign) throw refused(`has ${text.slice(0, 20)} where ${sign} must stand`);
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? END;
  }

  #next(): Token {
    const token = this.#peek();
    this.#at += 1;
    return token;
  }
}
