import { UUID } from '../../../schema/ids.js';
import { identifierLiteral, stringLiteral } from './literals.js';

/** The ClickHouse type that a value is passed as. */
export type SqlType =
  | 'String'
  | 'UUID'
  | 'UInt64'
  | 'UInt8'
  | 'Float64'
  | 'Int64'
  | 'Array(String)'
  | 'Array(UUID)'
  | 'Array(UInt64)'
  | 'Decimal(38, 12)';

/** A value on its way into a statement, always as a typed parameter, never as text. */
class SqlValue {
  readonly value: unknown;
  readonly type: SqlType;

  constructor(value: unknown, type: SqlType) {
    this.value = value;
    this.type = type;
  }
}

export function value(of: unknown, type: SqlType): SqlValue {
  return new SqlValue(of, type);
}

/** The id of a project, which makes a statement one of that project. */
class ProjectId extends SqlValue {
  readonly projectId: string;

  constructor(projectId: string) {
    super(projectId, 'String');
    this.projectId = projectId;
  }
}

export function projectValue(projectId: string): SqlValue {
  return new ProjectId(projectId);
}

export type { Sql };

export interface RenderedSql {
  readonly text: string;
  readonly params: Record<string, unknown>;
}

type Part = string | SqlValue;

/**
 * A statement or a piece of one: text written in this code base, and values. Only the functions of this file make one, so
 * that no text from anywhere else becomes SQL.
 */
class Sql {
  readonly parts: readonly Part[];

  constructor(parts: readonly Part[]) {
    this.parts = parts;
  }

  /** The id of the project that the statement reads, if it names one. */
  get project(): string | undefined {
    return this.parts.find((part) => part instanceof ProjectId)?.projectId;
  }

  /**
   * The statement's text with numbered parameters, and their values: equal queries give equal text. A value that stands at
   * several places is one parameter.
   */
  render(): RenderedSql {
    const params: Record<string, unknown> = {};
    const text = this.#placed()
      .map(({ part, number }) => {
        if (typeof part === 'string') return part;
        params[`p${number}`] = part.value;
        return placeholder(number, part);
      })
      .join('');
    return { text, params };
  }

  /** The parts, values with the number of their parameter. */
  #placed(): { readonly part: Part; readonly number: number }[] {
    const numbers = new Map<SqlValue, number>();
    return this.parts.map((part) => {
      if (typeof part === 'string') return { part, number: 0 };
      const number = numbers.get(part) ?? numbers.size + 1;
      numbers.set(part, number);
      return { part, number };
    });
  }

  /**
   * The statement with its text rewritten, for changes that depend on what kind of statement it is.
   * @param rewrite keeps every parameter `{p1:Type}` of the text, in their order
   */
  rewritten(rewrite: (text: string) => string): Sql {
    let rest = rewrite(this.render().text);
    const parts = this.#placed().flatMap(({ part: each, number }) => {
      if (typeof each === 'string') return [];
      const name = placeholder(number, each);
      const at = rest.indexOf(name);
      if (at < 0) throw new Error(`A rewritten statement lost its parameter ${name}`);
      const before = rest.slice(0, at);
      rest = rest.slice(at + name.length);
      return [before, each];
    });
    return new Sql([...parts, rest]);
  }
}

function placeholder(number: number, { type }: SqlValue): string {
  return `{p${number}:${type}}`;
}

export function sql(texts: TemplateStringsArray, ...inserted: (Sql | SqlValue)[]): Sql {
  const parts: Part[] = [];
  texts.forEach((text, index) => {
    parts.push(text);
    const next = inserted[index];
    // One by one: a statement may name thousands of ids, more than a call takes arguments.
    if (next instanceof Sql) for (const part of next.parts) parts.push(part);
    else if (next !== undefined) parts.push(next);
  });
  return new Sql(parts);
}

export const empty: Sql = new Sql([]);

export function join(pieces: readonly Sql[], separator: string): Sql {
  return new Sql(pieces.flatMap((piece, index) => (index === 0 ? piece.parts : [separator, ...piece.parts])));
}

/** An identifier, whose name comes from this code base's own definitions; anything else is a defect. */
export function identifier(name: string): Sql {
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new Error(`not an identifier: ${name}`);
  return new Sql([name]);
}

/** A name that an operator chose, such as a database's. */
export function quotedIdentifier(name: string): Sql {
  return new Sql([identifierLiteral(name)]);
}

/**
 * A string in the statement's text: one of this code base, or an id where no parameter can stand. Values that clients send
 * go through `value`.
 */
export function literal(text: string): Sql {
  return new Sql([stringLiteral(text)]);
}

/** A number in the statement's text; digits when it comes from the store as text. */
export function number(of: number | string): Sql {
  return numbers([of]);
}

/** Numbers with commas between them, in the statement's text: parameters go in the URL, which many are too long for. */
export function numbers(of: readonly (number | string)[]): Sql {
  for (const each of of) if (!/^-?\d+(\.\d+)?$/.test(String(each))) throw new Error(`not a number: ${each}`);
  return new Sql([of.join(', ')]);
}

/**
 * Very many constants as one text, from which ClickHouse makes a list once: tens of thousands of expressions take it seconds to
 * analyze, for each part that a deletion looks at.
 * @throws Error when one is not of the type
 */
export function listOf(type: 'UInt64' | 'Int64' | 'UUID', of: readonly string[]): Sql {
  const isOne = { UInt64: /^\d+$/, Int64: /^-?\d+$/, UUID }[type];
  for (const each of of) if (!isOne.test(each)) throw new Error(`not a ${type}: ${each}`);
  const text = of.map((each) => (type === 'UUID' ? `'${each}'` : each)).join(',');
  return sql`CAST(${literal(`[${text}]`)}, ${literal(`Array(${type})`)})`;
}

/** A statement of a file of this package, such as a migration's. */
export function statementOfFile(text: string): Sql {
  return new Sql([text]);
}
