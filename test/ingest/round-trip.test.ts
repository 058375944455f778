import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { CALL_FIELDS } from '../../src/engine/traces/model/span/span-call.js';
import { spanFields, type FieldType } from '../../src/engine/traces/model/list/fields.js';
import { CheckedApi, START, type Row } from '../harness/checked-api.js';

/** A value of each type that no span has that does not say so; `name` makes those of a type differ. */
const VALUES: Readonly<Record<FieldType, (name: string) => unknown>> = {
  id: () => randomUUID(),
  text: (name) => `the ${name}, größer "and" \\ 漢😀`,
  kind: () => 'vector_store',
  status: () => 'error',
  time: (name) => `2026-02-01T10:00:0${name.length % 10}.123456Z`,
  number: () => 1234.5678,
  money: () => 0.000000123457,
  integer: () => 2 ** 40 + 1,
  boolean: () => true,
  tags: (name) => ({ [name]: 'größer', 'a "quoted" key': name }),
  json: (name) => ({ [name]: { deep: [1, null, 'x'], text: '漢' } }),
};

/** What the server itself says of a span; the answer to the request has it first. */
const NOT_SENT: readonly string[] = ['project_id', 'has_error', 'created_at', ...CALL_FIELDS];

/** What the fields of a call are read from. */
const CALL = {
  provider: 'acme',
  model: 'one',
  inputTokens: 10,
  outputTokens: 5,
  cacheReadTokens: 2,
  cacheWriteTokens: 1,
  prompt_slug: 'a prompt',
  prompt_version: 3,
  prompt_version_id: randomUUID(),
};

const names = Object.keys(spanFields) as (keyof typeof spanFields)[];

describe('a span that says all that a span can say', () => {
  let api: CheckedApi;
  let bare: Row;
  let sent: Row;
  let posted: Row;

  before(async () => {
    api = await CheckedApi.boot();
    const least = { id: randomUUID(), trace_id: randomUUID(), name: '-', started_at: START };
    sent = Object.fromEntries(
      names.filter((name) => !NOT_SENT.includes(name)).map((name) => [name, VALUES[spanFields[name].type](name)]),
    );
    sent = { ...sent, kind: 'llm', attributes: { ...(sent['attributes'] as Row), ...CALL } };
    await api.post('spans', [least]);
    [posted = {}] = await api.post('spans', [sent]);
    bare = await api.one('spans', least.id);
  });
  after(() => api.dispose());

  for (const name of names)
    it(`is read with the ${name} it was posted with`, async () => {
      const expected = NOT_SENT.includes(name) ? posted[name] : sent[name];
      expect(posted[name], 'in the answer to the request').to.deep.equal(expected);
      expect((await api.one('spans', sent['id']))[name], 'in the list').to.deep.equal(expected);
      const [alone] = await api.get('spans', [
        ['id', sent['id']],
        ['fields', name],
      ]);
      expect(alone, 'asked for alone').to.deep.equal({ [name]: expected });
      // Otherwise a field that is lost would be answered all the same.
      if (name !== 'project_id') expect(expected).to.not.deep.equal(bare[name]);
    });
});
