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

export interface RenderedSql {
  readonly text: string;
  readonly params: Record<string, unknown>;
  /** The project that is read, of a statement that names one. */
  readonly project?: string;
}

type Part = string | SqlValue;

/** A piece of SQL: text written in this code base, and values. Made only by the tag `sql`, `join` and `identifier`. */
export class Sql {
  readonly parts: readonly Part[];

  constructor(parts: readonly Part[]) {
    this.parts = parts;
  }

  /** The statement's text with numbered parameters, and their values: equal queries give equal text. */
  render(): RenderedSql {
    const params: Record<string, unknown> = {};
    const project = this.parts.find((part) => part instanceof ProjectId)?.projectId;
    let count = 0;
    const text = this.parts
      .map((part) => {
        if (typeof part === 'string') return part;
        count += 1;
        params[`p${count}`] = part.value;
        return `{p${count}:${part.type}}`;
      })
      .join('');
    return { text, params, ...(project !== undefined && { project }) };
  }
}

export function sql(texts: TemplateStringsArray, ...inserted: (Sql | SqlValue)[]): Sql {
  const parts: Part[] = [];
  texts.forEach((text, index) => {
    parts.push(text);
    const next = inserted[index];
    if (next instanceof Sql) parts.push(...next.parts);
    else if (next !== undefined) parts.push(next);
  });
  return new Sql(parts);
}

export const empty = new Sql([]);

export function join(pieces: readonly Sql[], separator: string): Sql {
  return new Sql(pieces.flatMap((piece, index) => (index === 0 ? piece.parts : [separator, ...piece.parts])));
}

/** Names come from this code base's own definitions; anything else is a defect. */
export function identifier(name: string): Sql {
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new Error(`not an identifier: ${name}`);
  return new Sql([name]);
}

/** A string literal of this code base; not for what clients send, which goes through `value`. */
export function literal(text: string): Sql {
  return new Sql([`'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`]);
}
