import BetterSqlite3 from 'better-sqlite3';

type Statement = BetterSqlite3.Statement;
type Values = unknown[];

/**
 * A connection whose statements are compiled when they are first used. The stores have some 700, of which a server uses a few
 * dozen in its first minute, and a command of the admin program fewer still. That each can be compiled is a test's matter:
 * test/durability/sqlite.test.ts.
 */
export class LateDatabase extends BetterSqlite3 {
  override prepare(source: string): never {
    return new LateStatement(() => super.prepare(source)) as never;
  }
}

/** A statement, as far as stores use it. How its rows come is said before it is first used. */
class LateStatement implements Pick<Statement, 'run' | 'get' | 'all' | 'iterate'> {
  readonly #compile: () => Statement;
  #statement: Statement | null = null;
  #rowsAs: 'objects' | 'pluck' | 'raw' = 'objects';

  constructor(compile: () => Statement) {
    this.#compile = compile;
  }

  pluck(): this {
    this.#rowsAs = 'pluck';
    return this;
  }

  raw(): this {
    this.#rowsAs = 'raw';
    return this;
  }

  run(...values: Values) {
    return (this.#statement ?? this.#compiled()).run(...values);
  }

  get(...values: Values) {
    return (this.#statement ?? this.#compiled()).get(...values);
  }

  all(...values: Values) {
    return (this.#statement ?? this.#compiled()).all(...values);
  }

  iterate(...values: Values) {
    return (this.#statement ?? this.#compiled()).iterate(...values);
  }

  #compiled(): Statement {
    const statement = this.#compile();
    if (this.#rowsAs !== 'objects') statement[this.#rowsAs]();
    return (this.#statement = statement);
  }
}
