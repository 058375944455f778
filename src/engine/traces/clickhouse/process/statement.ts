import { ErrorCode, EngineError } from './engine-error.js';

export type StatementKind = 'read' | 'insert' | 'command';

/** A statement of a client, read just far enough to run it. */
export interface Statement {
  readonly kind: StatementKind;
  /** The statement without trailing semicolon, comments and blanks. */
  readonly text: string;
  /** The name after the last FORMAT, if there is one. */
  readonly format: string | undefined;
  /** Where FORMAT or VALUES of an INSERT stands in `text`: settings go before it. */
  readonly formatAt: number | undefined;
  /** Where `input(…)` stands in the `text` of an INSERT SELECT that takes its data from there. */
  readonly inputAt?: number;
  readonly placeholders: readonly Placeholder[];
  /** Data that stood behind the FORMAT of an INSERT in the same text. */
  readonly inlineData: string | undefined;
}

/** A parameter, `{name:Type}`, in a statement's text. */
export interface Placeholder {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly type: string;
}

// One token at a time: whatever may hold a brace, a semicolon or a keyword without meaning it is one token.
const TOKEN = new RegExp(
  [
    /(?<blank>\s+|--[^\n]*|#[!\s][^\n]*|\/\*[\s\S]*?\*\/)/,
    /(?<quoted>'[^'\\]*(?:(?:\\[\s\S]|'')[^'\\]*)*'|"[^"\\]*(?:(?:\\[\s\S]|"")[^"\\]*)*"|`[^`\\]*(?:(?:\\[\s\S]|``)[^`\\]*)*`)/,
    /(?<heredoc>\$(?<tag>\w*)\$[\s\S]*?\$\k<tag>\$)/,
    /(?<placeholder>\{\s*(?<name>[A-Za-z_]\w*)\s*:\s*(?<type>(?:[^{}'"`]|'(?:[^'\\]|\\[\s\S])*')+)\})/,
    /(?<word>[A-Za-z_]\w*|\d[\w.]*)/,
    /(?<other>[\s\S])/,
  ]
    .map((part) => part.source)
    .join('|'),
  'y',
);

const READS = new Set(['SELECT', 'WITH', 'SHOW', 'DESCRIBE', 'DESC', 'EXISTS', 'EXPLAIN', 'CHECK', '(']);

/**
 * Reads one statement: its kind, its format, its placeholders, and that it is one only (the engine itself would run
 * several, ClickHouse's HTTP front refuses them).
 *
 * @throws EngineError 62 for an empty statement, several statements, or an unclosed quote.
 */
export function readStatement(sql: string): Statement {
  const placeholders: Placeholder[] = [];
  let kind: StatementKind | undefined;
  let end = 0;
  let previous: { word: string; at: number } | undefined;
  let format: string | undefined;
  let formatAt: number | undefined;
  let selects = false;
  let inputAt: number | undefined;
  let depth = 0;
  let closed = false;

  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(sql); match !== null; match = TOKEN.exec(sql)) {
    const groups = match.groups as Record<string, string | undefined>;
    if (groups['blank'] !== undefined) continue;
    const token = match[0];
    if (closed) throw syntaxError('Multi-statements are not allowed');
    if (token === ';') {
      closed = true;
      continue;
    }
    if (token === "'" || token === '"' || token === '`') throw syntaxError('a quoted string is not closed');
    const word = (groups['word'] ?? (token === '(' ? token : '')).toUpperCase();
    kind ??= word === 'INSERT' ? 'insert' : READS.has(word) ? 'read' : 'command';
    end = TOKEN.lastIndex;
    if (token === '(') depth++;
    else if (token === ')') depth--;
    if (groups['placeholder'] !== undefined) {
      placeholders.push({
        start: match.index,
        end,
        name: groups['name'] as string,
        type: (groups['type'] as string).trim(),
      });
    } else if (previous?.word === 'FORMAT' && depth === 0 && groups['word'] !== undefined) {
      format = token;
      formatAt = previous.at;
      if (kind === 'insert') {
        const rest = sql.slice(end).trimStart();
        return {
          kind,
          text: sql.slice(0, end),
          format,
          formatAt,
          ...(inputAt !== undefined && { inputAt }),
          placeholders,
          inlineData: rest === '' ? undefined : rest,
        };
      }
    } else if (kind === 'insert' && depth === 0 && word === 'VALUES') {
      formatAt ??= match.index;
    }
    if (kind === 'insert' && !selects && depth === 0 && (word === 'SELECT' || word === 'WITH')) {
      kind = 'command';
      selects = true;
    }
    if (selects && token === '(' && previous?.word === 'INPUT') {
      kind = 'insert';
      inputAt = previous.at;
    }
    previous = groups['word'] === undefined ? undefined : { word, at: match.index };
  }
  if (kind === undefined) throw syntaxError('Empty query');
  return { kind, text: sql.slice(0, end), format, formatAt, placeholders, inlineData: undefined };
}

function syntaxError(detail: string): EngineError {
  return EngineError.of(ErrorCode.syntaxError, `${detail}.`, 'SYNTAX_ERROR');
}
