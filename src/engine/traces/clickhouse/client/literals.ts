// The only place where a value becomes SQL text.

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '`': '\\`',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
  '\0': '\\0',
};

/** A string literal of ClickHouse's SQL; for every string, NUL included. */
export function stringLiteral(value: string): string {
  return `'${value.replace(/[\\'\n\r\t\b\f\0]/g, (char) => ESCAPES[char] as string)}'`;
}

/** A quoted identifier. */
export function identifierLiteral(value: string): string {
  return `\`${value.replace(/[\\`\n\r\t\b\f\0]/g, (char) => ESCAPES[char] as string)}\``;
}
