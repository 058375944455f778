import { readdir } from 'node:fs/promises';
import type { Audit, AuditedPage } from '../../../engine/traces/model/check/audit.js';

/** The files in `DATA_DIR` itself against those that Spanhouse makes. */
export class DataDirAudit implements Audit {
  readonly title = 'files in DATA_DIR';
  readonly unit = 'files';
  readonly #dataDir: string;
  readonly #known: readonly RegExp[];

  /** @param known the names of what is made there */
  constructor(dataDir: string, known: readonly RegExp[]) {
    this.#dataDir = dataDir;
    this.#known = known;
  }

  async total(): Promise<number> {
    return (await readdir(this.#dataDir)).length;
  }

  async *pages(): AsyncGenerator<AuditedPage> {
    const names = await readdir(this.#dataDir);
    const unknown = names.filter((name) => !this.#known.some((known) => known.test(name)));
    yield { checked: names.length, suspects: unknown.map((id) => ({ flaw: 'file_unknown', project: '', id })) };
  }
}
