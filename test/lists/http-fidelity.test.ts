import { expect } from 'chai';
import { CheckedApi, listNames, span, START, uuid, type Row } from '../harness/checked-api.js';

const texts: Record<string, string> = {
  empty: '',
  blank: ' ',
  unicode: 'Grüße ключ 日本語 e\u0301',
  emoji: '🧪👩‍👩‍👧',
  quotes: `"double" 'single' \`back\``,
  backslashes: '\\ \\\\ \\n \\u0041 \\N \\x00',
  controls: Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join('') + '\x7f',
  NUL: 'a\0b\0',
  separators: '\u2028\u2029\ufeff\ufffe\uffff\u{10ffff}',
  slashes: '</script> / // https://example.com/?a=b&c=d',
  'JSON-like': '{"a":[1,2,{"b":null}]}',
  'SQL-like': "'; DROP TABLE spans; -- {p1:String} %s",
  'template-like': '${id:JSON} ${0:Raw} $0 $ $$ {0} ${data} \\N null',
  long: 'ünïcode 🧪 '.repeat(20_000),
};

const numbers = [
  0,
  1,
  -1,
  0.1 + 0.2,
  1e21,
  1.5e300,
  5e-324,
  1e-7,
  123456789.123456789,
  2 ** 53 - 1,
  -(2 ** 53 - 1),
  1.7976931348623157e308,
];

const attributes: Record<string, Row> = {
  none: {},
  'nested in order': { z: 1, a: { z: [1, [2, [3, { deep: null }]]], b: {} }, m: [], '': 0 },
  'numbers of every size': { numbers },
  'types side by side': { a: [1, '1', true, null, {}, []], t: true, f: false, n: null, e: '' },
  'texts of every kind': { ...texts, [`key ${texts['quotes']} ${texts['backslashes']}`]: texts['controls'] },
  'names that objects have': JSON.parse(
    '{"__proto__":{"polluted":true},"constructor":{"prototype":1},"toString":1,"hasOwnProperty":null,"length":3}',
  ) as Row,
  'numbers as names': { '10': 'a', '2': 'b', '-1': 'c', '01': 'd' },
  'many names': Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`key ${index}`, index])),
  'dotted names': { 'otel.scope.name': 'x', otel: { scope: { name: 'y' } } },
};
const deep = (levels: number): unknown => (levels === 0 ? 'bottom' : { down: deep(levels - 1) });

describe('what was sent is what is answered, at once and later', () => {
  let api: CheckedApi;
  let next = 1;

  before(async () => {
    api = await CheckedApi.boot({}, { tagBytes: 1_000_000 });
  });
  after(() => api.dispose());

  /** Posts a span, reads it back, and expects both answers to be the same in every field. */
  async function roundTrip(more: Row): Promise<Row> {
    const number = next++;
    const [posted] = await api.post('spans', [span(number, { session_id: uuid(2_000_000 + number), ...more })]);
    const read = await api.one('spans', uuid(number));
    expect(read).to.deep.equal(posted);
    expect(Object.keys(read)).to.have.members(Object.keys(posted ?? {}));
    const [trace] = await api.get('traces', [['id', uuid(1_000_000 + number)]]);
    expect(trace?.['root_span_input']).to.equal(read['input_data']);
    expect(trace?.['root_span_output']).to.equal(read['output_data']);
    expect(trace?.['root_span_error']).to.equal(read['error_message'] || read['error_code'] || null);
    expect(trace?.['tags']).to.deep.equal(read['trace_tags']);
    const [session] = await api.get('sessions', [['id', uuid(2_000_000 + number)]]);
    expect(session?.['tags']).to.deep.equal(read['session_tags']);
    return read;
  }

  const textFields = ['input_data', 'output_data', 'error_code', 'error_message', 'error_stack', 'code_filepath'];

  it('with text_limit, the middle of longer texts is left out, and of nothing else', async () => {
    const number = next++;
    const text = (length: number) => '🧪'.repeat(length - 2) + 'yz';
    const cut = `${'🧪'.repeat(67)}\n[… 901 characters left out here …]\n${'🧪'.repeat(31)}yz`;
    const sent = { input_data: text(1001), output_data: text(100), error_stack: text(1001), name: text(1001) };
    await api.post('spans', [span(number, { ...sent, attributes: { long: text(1001) }, tags: { long: text(1001) } })]);
    const whole = await api.one('spans', uuid(number));
    expect(await api.get('spans', `id=${uuid(number)}&text_limit=100`)).to.deep.equal([
      { ...whole, input_data: cut, error_stack: cut, name: cut },
    ]);
    const trace = await api.one('traces', uuid(1_000_000 + number));
    const found = `traces?id=${uuid(1_000_000 + number)}&text_limit=100`;
    expect((await api.server.request('GET', `/${found}`)).json).to.deep.equal([
      { ...trace, name: cut, root_span_input: cut },
    ]);
    expect((await api.server.request('GET', `/${found}&fields=root_span_output,id`)).json).to.deep.equal([
      { id: uuid(1_000_000 + number), root_span_output: text(100) },
    ]);
  });

  for (const [kind, text] of Object.entries(texts)) {
    it(`text: ${kind}`, async () => {
      const tags = text.length > 1000 ? { tag: text } : { [text]: text };
      const fields = Object.fromEntries(textFields.map((field) => [field, text]));
      const read = await roundTrip({
        ...fields,
        ...(text === '' || text.length > 4096 ? {} : { name: text, session_name: text }),
        tags,
        trace_tags: tags,
        session_tags: tags,
      });
      for (const field of textFields) expect(read[field]).to.equal(text);
      for (const field of ['tags', 'trace_tags', 'session_tags']) expect(read[field]).to.deep.equal(tags);
      if (text !== '' && text.length <= 4096) expect(read).to.include({ name: text, session_name: text });
    });
  }

  for (const [kind, text] of Object.entries(texts).filter(([, { length }]) => length > 0 && length < 1000)) {
    it(`text of a trace and a session that are stated: ${kind}`, async () => {
      const number = next++;
      const texts = { name: text, tags: { [text]: text }, attributes: { [text]: [text] } };
      const [trace, session] = [uuid(1_000_000 + number), uuid(2_000_000 + number)];
      const root = { trace_id: trace, parent_span_id: null, input_data: text, output_data: text };
      await api.post('spans', [span(number, root)]);
      await api.post('traces', [{ id: trace, session_id: session, started_at: START, ...texts }]);
      await api.post('sessions', [{ id: session, project_id: api.server.projectId, ...texts }]);
      const input = { root_span_input: text, root_span_output: text };
      expect(await api.one('traces', trace)).to.deep.include({ ...texts, ...input });
      expect(await api.one('sessions', session)).to.deep.include(texts);
      const some = await api.get('traces', `id=${trace}&fields=root_span_output,attributes`);
      expect(some).to.deep.equal([{ root_span_output: text, attributes: texts.attributes }]);
    });
  }

  it('an empty text is not null, and null is not empty', async () => {
    const empty = await roundTrip(Object.fromEntries(textFields.map((field) => [field, ''])));
    const absent = await roundTrip(Object.fromEntries(textFields.map((field) => [field, null])));
    for (const field of textFields) {
      expect(empty[field], field).to.equal('');
      expect(absent[field], field).to.equal(null);
    }
    expect(empty['has_error']).to.equal(false);
  });

  it('half of a surrogate pair, which is no text, becomes the replacement character in both answers', async () => {
    const half = 'a\ud800b\udc00';
    const whole = 'a\ufffdb\ufffd';
    const fields = Object.fromEntries([...textFields, 'name', 'session_name'].map((field) => [field, half]));
    const tags = { [half]: half };
    const read = await roundTrip({ ...fields, tags, trace_tags: tags, session_tags: tags });
    for (const field of Object.keys(fields)) expect(read[field], field).to.equal(whole);
    for (const field of ['tags', 'trace_tags', 'session_tags'])
      expect(read[field], field).to.deep.equal({ [whole]: whole });
    // Two keys that become one: one of them stays.
    const merged = await roundTrip({ tags: { '\ud800': 'a', '\ud801': 'b' } });
    expect(merged['tags']).to.deep.equal({ '\ufffd': 'b' });
    const nested = await roundTrip({ attributes: { [half]: half }, input_data: { [half]: half } });
    expect(JSON.parse(nested['input_data'] as string)).to.deep.equal({ [half]: half });
    const traces = await api.post('traces', [
      { id: uuid(9_000_001), session_id: uuid(9_000_002), name: half, started_at: START, tags },
    ]);
    expect(traces).to.deep.equal([await api.one('traces', uuid(9_000_001))]);
    expect(traces[0]).to.deep.include({ name: whole, tags: { [whole]: whole } });
    const sessions = await api.post('sessions', [
      { id: uuid(9_000_003), project_id: api.server.projectId, name: half, tags },
    ]);
    expect(sessions[0]).to.deep.include({ name: whole, tags: { [whole]: whole } });
    expect(sessions).to.deep.equal([await api.one('sessions', uuid(9_000_003))]);
  });

  for (const [kind, value] of Object.entries(attributes)) {
    it(`attributes: ${kind}`, async () => {
      const read = await roundTrip({ attributes: value });
      expect(JSON.stringify(read['attributes'])).to.equal(JSON.stringify(value));
      const number = next++;
      const stated = {
        id: uuid(1_000_000 + number),
        session_id: uuid(2_000_000 + number),
        name: 'n',
        started_at: START,
        attributes: value,
      };
      const [trace] = await api.post('traces', [stated]);
      const [session] = await api.post('sessions', [
        { id: stated.session_id, project_id: api.server.projectId, attributes: value },
      ]);
      for (const [list, posted, id] of [
        ['traces', trace, stated.id],
        ['sessions', session, stated.session_id],
      ] as const) {
        expect(JSON.stringify(posted?.['attributes'])).to.equal(JSON.stringify(value));
        expect(await api.one(list, id)).to.deep.equal(posted);
      }
    });
  }

  it('attributes: a megabyte, and nested 190 levels deep', async () => {
    const big = { text: 'x"\\é'.repeat(250_000), list: Array.from({ length: 10_000 }, (_, index) => ({ index })) };
    expect((await roundTrip({ attributes: big }))['attributes']).to.deep.equal(big);
    const value = deep(190);
    expect((await roundTrip({ attributes: value }))['attributes']).to.deep.equal(value);
  });

  it('input and output of any JSON are kept as its text', async () => {
    const value = [
      { role: 'user', content: texts['emoji'] },
      { numbers, text: texts['backslashes'] },
      attributes['names that objects have'],
    ];
    const read = await roundTrip({ input_data: value, output_data: { answer: value } });
    expect(read['input_data']).to.equal(JSON.stringify(value));
    expect(read['output_data']).to.equal(JSON.stringify({ answer: value }));
  });

  it('durations, as exact as they were sent', async () => {
    for (const duration_ms of [0, 5e-324, 1e-7, 0.1 + 0.2, 1, 12.5, 123456789.12345679, 1e15, 999999999999999.9])
      expect((await roundTrip({ duration_ms }))['duration_ms']).to.equal(duration_ms);
    const negativeZero = await roundTrip({ duration_ms: -0 });
    expect(Object.is(negativeZero['duration_ms'], 0)).to.equal(true);
  });

  it('costs, to twelve decimals', async () => {
    for (const cost of [0, 1e-12, 0.1, 0.3, 0.1 + 0.2, 1.000000000001, 123456.789012345678, 1e12, 999_999_999_999.99])
      expect((await roundTrip({ cost }))['cost']).to.equal(Number(cost.toFixed(12)));
    expect((await roundTrip({ cost: 1e-13 }))['cost']).to.equal(0);
    expect(Object.is((await roundTrip({ cost: -0 }))['cost'], 0)).to.equal(true);
  });

  it('line numbers', async () => {
    for (const code_lineno of [0, 1, 2 ** 31, 2 ** 53 - 1])
      expect((await roundTrip({ code_lineno }))['code_lineno']).to.equal(code_lineno);
  });

  it('times, to the microsecond, from 1970 to 2254', async () => {
    const times = [
      '1970-01-01T00:00:00.000000Z',
      '1970-01-01T00:00:00.000001Z',
      '1999-12-31T23:59:59.999999Z',
      '2026-01-31T10:00:00.123456Z',
      '2038-01-19T03:14:08.000007Z',
      '2106-02-07T06:28:16.000001Z',
      '2254-12-31T23:59:59.999999Z',
    ];
    for (const time of times)
      expect(await roundTrip({ started_at: time, ended_at: time })).to.include({
        started_at: time,
        ended_at: time,
        duration_ms: 0,
      });
  });

  it('members of a row come in one order, whatever was sent first', async () => {
    for (const list of listNames) {
      const rows = await api.get(list, 'limit=50');
      const [first] = rows;
      for (const row of rows) expect(Object.keys(row)).to.deep.equal(Object.keys(first ?? {}));
    }
  });
});
