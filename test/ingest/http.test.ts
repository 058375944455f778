import { expect } from 'chai';
import { SpanInput } from '../../src/engine/traces/model/span/schema.js';
import { UNSAID } from '../harness/span.js';
import { START, uuid, type CheckedApi } from '../harness/checked-api.js';
import { SpanSender } from './span-sender.js';

describe('POST /spans', () => {
  let sender: SpanSender;
  let api: CheckedApi;

  before(async () => {
    sender = await SpanSender.boot();
    ({ api } = sender);
  });
  after(() => sender.dispose());

  it('defaults of everything that is optional', async () => {
    const expected = { ...UNSAID, has_error: false, project_id: api.server.projectId };
    expect(await sender.store({})).to.deep.include(expected);
    const optional = Object.keys(SpanInput.properties).filter(
      (name) => !(SpanInput.required as string[]).includes(name),
    );
    const nulls = await sender.store({ ...Object.fromEntries(optional.map((name) => [name, null])) });
    expect(nulls).to.deep.include(expected);
    expect(nulls['id']).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  });

  it('every field, as it was sent', async () => {
    const fields = {
      parent_span_id: uuid(77),
      session_id: uuid(78),
      session_name: 's',
      name: 'n',
      kind: 'llm',
      status: 'ok',
      started_at: '2026-01-31T10:00:00.000001Z',
      ended_at: '2026-01-31T10:00:01.000002Z',
      duration_ms: 7.5,
      cost: 0.25,
      input_data: 'i',
      output_data: 'o',
      attributes: { a: [1] },
      tags: { t: '1' },
      trace_tags: { t: '2' },
      session_tags: { t: '3' },
      error_code: 'c',
      error_message: 'm',
      error_stack: 's',
      code_filepath: 'f.py',
      code_lineno: 12,
    };
    expect(await sender.store(fields)).to.deep.include({ ...fields, has_error: true });
  });

  it('the largest and the longest that are taken', async () => {
    const tags = {
      ['k'.repeat(1024)]: 'v'.repeat(100_000),
      ...Object.fromEntries(Array.from({ length: 999 }, (_, key) => [`t${key}`, 'x'])),
    };
    const fields = {
      name: 'n'.repeat(4096),
      session_name: 's'.repeat(4096),
      kind: `a${'_9'.repeat(15)}z`,
      duration_ms: 1e15,
      cost: 1e12,
      code_lineno: 2 ** 53 - 1,
      tags,
    };
    expect(await sender.store({ ...fields, session_id: uuid(79) })).to.deep.include(fields);
  });

  it('kinds: the six, and any other lower-case identifier', async () => {
    const kinds = [
      'generic',
      'llm',
      'tts',
      'http',
      'database',
      'vector_store',
      'tool',
      'agent',
      'retriever',
      'a',
      'a1_b',
    ];
    const stored = await sender.storeAll(kinds.map((kind) => ({ kind })));
    expect(stored.map(({ kind }) => kind as string)).to.deep.equal(kinds);
  });

  it('status and errors decide has_error', async () => {
    for (const status of ['unset', 'ok', 'error'] as const)
      expect(await sender.store({ status })).to.include({ status, has_error: status === 'error' });
    expect(await sender.store({ status: 'ok', error_code: 'E' })).to.include({ status: 'ok', has_error: true });
    expect(await sender.store({ error_message: 'broken' })).to.include({ has_error: true });
    expect(await sender.store({ error_code: '', error_message: '', error_stack: 'at x' })).to.include({
      has_error: false,
    });
  });

  it('times in every form', async () => {
    const forms: [string | number, string][] = [
      ['2026-01-31T10:00:00', '2026-01-31T10:00:00.000000Z'],
      ['2026-01-31 10:00:00.5', '2026-01-31T10:00:00.500000Z'],
      ['2026-01-31T10:00:00.1234564Z', '2026-01-31T10:00:00.123456Z'],
      ['2026-01-31T10:00:00.1234567Z', '2026-01-31T10:00:00.123457Z'],
      ['2026-01-31T10:00:00.9999999Z', '2026-01-31T10:00:01.000000Z'],
      ['2026-01-31T12:00:00.000001+02:00', '2026-01-31T10:00:00.000001Z'],
      ['2026-01-31T00:30:00-0930', '2026-01-31T10:00:00.000000Z'],
      ['2026-01-31', '2026-01-31T00:00:00.000000Z'],
      ['20260131T100000.123456Z', '2026-01-31T10:00:00.123456Z'],
      ['2026-W05-6T10:00Z', '2026-01-31T10:00:00.000000Z'],
      ['2024-02-29T23:59:59.999999Z', '2024-02-29T23:59:59.999999Z'],
      [0, '1970-01-01T00:00:00.000000Z'],
      [1769853600, '2026-01-31T10:00:00.000000Z'],
      [1769853600.123456, '2026-01-31T10:00:00.123456Z'],
      [1769853600123, '2026-01-31T10:00:00.123000Z'],
      [1769853600123.456, '2026-01-31T10:00:00.123456Z'],
      [2e10, '1970-08-20T11:33:20.000000Z'],
    ];
    const stored = await sender.storeAll(forms.map(([sent]) => ({ started_at: sent, ended_at: sent })));
    for (const [index, [sent, expected]] of forms.entries()) {
      const read = stored[index];
      expect([read?.['started_at'], read?.['ended_at'], read?.['duration_ms']], String(sent)).to.deep.equal([
        expected,
        expected,
        0,
      ]);
    }
  });

  it('duration: as sent, else end minus start, else null; an end before the start is refused', async () => {
    expect(await sender.store({ ended_at: '2026-01-31T10:00:01.000001Z' })).to.include({ duration_ms: 1000.001 });
    expect(await sender.store({ ended_at: '2026-01-31T10:00:01Z', duration_ms: 5 })).to.include({ duration_ms: 5 });
    expect(await sender.store({ ended_at: '2026-01-31T10:00:01Z', duration_ms: 0 })).to.include({ duration_ms: 0 });
    expect(await sender.store({ duration_ms: 5 })).to.include({ duration_ms: 5, ended_at: null });
    expect(await sender.store({ ended_at: START })).to.include({ duration_ms: 0 });
    expect(await sender.issues({ ended_at: '2026-01-31T09:59:59.999999Z' })).to.deep.equal({
      ended_at: 'must not be before started_at',
    });
  });

  it('ids: of any version, in either case, answered in lower case', async () => {
    const upper = 'ABCDEFAB-CDEF-ABCD-EFAB-CDEFABCDEFAB';
    const ids = {
      id: upper,
      trace_id: upper.replace('A', 'B'),
      parent_span_id: upper.replace('A', 'C'),
      session_id: upper.replace('A', 'D'),
    };
    const lower = Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, id.toLowerCase()]));
    expect(await sender.store(ids)).to.include(lower);
    expect(await sender.store({ ...ids, name: 'again' })).to.include({ ...lower, name: 'again' });
    expect(await api.get('spans', [['trace_id', ids.trace_id]])).to.have.length(1);
    expect(await sender.issues({ id: ids.id, parent_span_id: upper.toLowerCase() })).to.have.all.keys('parent_span_id');
  });

  it('session: an object or an id, not two different ones; its name and tags', async () => {
    const [a, b] = [uuid(501), uuid(502)];
    expect(await sender.store({ session: { id: a } })).to.include({ session_id: a, session_name: null });
    expect(await sender.store({ session: { id: a, name: 'named' } })).to.include({
      session_id: a,
      session_name: 'named',
    });
    expect(await api.one('sessions', a)).to.include({ name: 'named' });
    expect(await sender.store({ session_id: b, session_name: 'other' })).to.include({
      session_id: b,
      session_name: 'other',
    });
    expect(await api.one('sessions', b)).to.include({ name: 'other' });
    expect(
      await sender.store({ session_id: a, session: { id: a.toUpperCase(), name: 'wins' }, session_name: 'loses' }),
    ).to.include({ session_id: a, session_name: 'wins' });
    expect(await sender.store({ session_id: a, session: { name: 'no id needed' } })).to.include({
      session_id: a,
      session_name: 'no id needed',
    });
    const tagged = await sender.store({
      session: { id: a, tags: { x: 1, y: 'session' } },
      session_tags: { y: 'span', z: true },
    });
    expect(tagged['session_tags']).to.deep.equal({ x: '1', y: 'span', z: 'true' });
    expect((await api.one('sessions', a))['tags']).to.deep.equal({ x: '1', y: 'span', z: 'true' });
    expect(await sender.store({ session: null, session_id: a })).to.include({ session_id: a });
    expect(await sender.issues({ session_id: a, session: { id: b } })).to.have.all.keys('session/id');
    expect(await sender.issues({ session: {} })).to.have.all.keys('session/id');
    expect(await sender.issues({ session: { name: 'x' } })).to.have.all.keys('session/id');
    expect(await sender.issues({ session: { id: 'x', name: 7, tags: { a: {} } } })).to.have.all.keys(
      'session/id',
      'session/name',
      'session/tags/a',
    );
  });

  it('tags: numbers and booleans become their JSON text, nulls are dropped', async () => {
    const tags = { text: 'x', one: 1, float: 0.5, big: 1e21, yes: true, no: false, none: null, empty: '' };
    const kept = { text: 'x', one: '1', float: '0.5', big: '1e+21', yes: 'true', no: 'false', empty: '' };
    const read = await sender.store({ tags, trace_tags: tags, session_tags: tags, session_id: uuid(503) });
    for (const field of ['tags', 'trace_tags', 'session_tags']) expect(read[field]).to.deep.equal(kept);
    expect((await api.one('traces', read['trace_id'] as string))['tags']).to.deep.equal(kept);
    expect((await api.one('sessions', uuid(503)))['tags']).to.deep.equal(kept);
  });

  it('input and output: text as it is, objects and arrays as their JSON text', async () => {
    expect(await sender.store({ input_data: '[1, 2]', output_data: '' })).to.include({
      input_data: '[1, 2]',
      output_data: '',
    });
    expect(await sender.store({ input_data: [{ role: 'user' }], output_data: {} })).to.include({
      input_data: '[{"role":"user"}]',
      output_data: '{}',
    });
  });

  it('fields that only answers have are ignored', async () => {
    const read = await sender.store({ has_error: true, created_at: 'never', project_id: 'x' });
    expect(read).to.deep.include({ has_error: false, project_id: api.server.projectId, attributes: {} });
  });
});
