import { expect } from 'chai';
import { CheckedApi, each, span, uuid, type Row } from '../harness/checked-api.js';

/** Posts spans that differ from those before, and expects of each what a later read of it says. */
export class SpanSender {
  readonly api: CheckedApi;
  #next = 1;

  private constructor(api: CheckedApi) {
    this.api = api;
  }

  static async boot(): Promise<SpanSender> {
    return new SpanSender(await CheckedApi.boot());
  }

  dispose(): Promise<void> {
    return this.api.dispose();
  }

  /** A number that no span has yet. */
  number(): number {
    return this.#next++;
  }

  /** A span of its own, not posted yet. */
  span(more: Row = {}): Row {
    return span(this.number(), more);
  }

  /** Posts one span of its own and answers it, the same as a later read. */
  async store(more: Row): Promise<Row> {
    const [stored] = await this.storeAll([more]);
    return stored ?? {};
  }

  /** Posts spans in one request and answers them, the same as a later read. */
  async storeAll(all: readonly Row[]): Promise<Row[]> {
    const posted = await this.api.post(
      'spans',
      all.map((more) => this.span(more)),
    );
    expect(posted).to.have.length(all.length);
    await each(posted, async (row) => {
      expect(await this.api.get('spans', [['trace_id', String(row['trace_id'])]])).to.deep.equal([row]);
    });
    return posted;
  }

  /** Issues of one span, without the part of the pointer that says which. */
  async issues(more: Row): Promise<Record<string, string>> {
    const number = this.number();
    const found = await this.api.refused('POST', 'spans', [span(number), span(number + 1_000_000, more)]);
    expect(await this.api.get('spans', [['id', uuid(number)]])).to.deep.equal([]);
    return Object.fromEntries(
      Object.entries(found).map(([pointer, detail]) => [pointer.replace(/^\/1\//, ''), detail]),
    );
  }
}
