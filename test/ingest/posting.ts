import { expect } from 'chai';
import { each, type CheckedApi, type Row } from '../harness/checked-api.js';

type List = 'traces' | 'sessions';

export const tags = { text: 'x', one: 1, yes: true, none: null };
export const keptTags = { text: 'x', one: '1', yes: 'true' };
export const badTags = [7, 'x', [], { a: {} }, { a: [] }, { 'a\nb': [] }, { ['k'.repeat(1025)]: 'x' }];
export const badAttributes = [7, 'x', true, []];

/** Posts traces or sessions, and holds the answers to later reads. */
export class Posting {
  readonly #api: CheckedApi;
  readonly #list: List;
  readonly #make: (more: Row) => Row;

  /** @param make one with an id of its own */
  constructor(api: CheckedApi, list: List, make: (more: Row) => Row) {
    this.#api = api;
    this.#list = list;
    this.#make = make;
  }

  /** Posts one and answers it, the same as a later read. */
  async store(element: Row): Promise<Row> {
    const [posted] = await this.#api.post(this.#list, [element]);
    expect(await this.#api.one(this.#list, String(posted?.['id']))).to.deep.equal(posted);
    return posted ?? {};
  }

  async expectInOrder(): Promise<void> {
    const [a, b] = [this.#make({ name: 'a' }), this.#make({ name: 'b' })];
    const posted = await this.#api.post(this.#list, [b, a, { ...b, name: 'later' }]);
    expect(posted.map(({ id, name }) => [id, name])).to.deep.equal([
      [b['id'], 'later'],
      [a['id'], 'a'],
      [b['id'], 'later'],
    ]);
    expect(await this.#api.post(this.#list, [])).to.deep.equal([]);
  }

  async expectRefused(bad: Record<string, readonly unknown[]>): Promise<void> {
    const cases = Object.entries(bad).flatMap(([field, values]) => values.map((value) => [field, value] as const));
    await each(cases, async ([field, value]) => {
      const good = this.#make({});
      const sent = [good, this.#make({ [field]: value })];
      const found = Object.keys(await this.#api.refused('POST', this.#list, sent));
      const label = `${field} = ${JSON.stringify(value)?.slice(0, 80)}: ${found.join(' ')}`;
      expect(found, label).to.have.length(1);
      expect(found[0]?.split('/').slice(0, 3).join('/'), label).to.equal(`/1/${field}`);
      expect(await this.#api.get(this.#list, [['id', good['id'] as string]])).to.deep.equal([]);
    });
  }
}
