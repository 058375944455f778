import { expect } from 'chai';
import { SpanInput } from '../../src/engine/traces/model/span/schema.js';
import { each, uuid, type CheckedApi, type Row } from '../harness/checked-api.js';
import { SpanSender } from './span-sender.js';

describe('POST /spans, refused', () => {
  let sender: SpanSender;
  let api: CheckedApi;

  before(async () => {
    sender = await SpanSender.boot();
    ({ api } = sender);
  });
  after(() => sender.dispose());

  it('a required field that is missing, null or of another type', async () => {
    for (const [field, rest] of [
      ['trace_id', 7],
      ['name', 7],
      ['started_at', true],
    ] as const) {
      const without = { ...sender.span(), [field]: undefined };
      expect(await api.refused('POST', 'spans', [without])).to.have.all.keys(`/0/${field}`);
      expect(await sender.issues({ [field]: null })).to.have.all.keys(field);
      expect(await sender.issues({ [field]: rest })).to.have.all.keys(field);
      expect(await sender.issues({ [field]: '' })).to.have.all.keys(field);
    }
  });

  it('any field of a wrong type or out of its bounds is refused and named', async () => {
    const text = [7, true, {}, []];
    const tags = [
      7,
      'x',
      [],
      { a: {} },
      { a: [] },
      { ok: 'x', 'a\nb': {} },
      { ['k'.repeat(1025)]: 'x' },
      Object.fromEntries(Array.from({ length: 1001 }, (_, key) => [key, 'x'])),
    ];
    const bad: Record<string, readonly unknown[]> = {
      id: ['', 'x', 7, {}, `${uuid(1)}0`, '00000000-0000-0000-0000-000000000000'],
      trace_id: ['x', '00000000-0000-0000-0000-000000000000'],
      parent_span_id: ['', 'null', 7, '00000000-0000-0000-0000-000000000000'],
      session_id: ['', 'x', 7, '00000000-0000-0000-0000-000000000000'],
      session_name: [...text, 'x'.repeat(4097)],
      session: [7, 'x', [], true],
      name: [...text, '', 'x'.repeat(4097)],
      kind: [...text, '', 'LLM', 'Llm', '1a', '_a', 'a-b', 'a b', 'a.b', 'é', 'a'.repeat(33), 'llm\n'],
      status: [...text, '', 'OK', 'Error', 'x', 'ok '],
      started_at: [true, {}, [], '', 'x', '12:30', '2026-02-30', '2255-01-01', -1, 1e30, '1969-12-31'],
      ended_at: [true, {}, [], '', 'x', '2026-13-01', -1, 1e30],
      duration_ms: ['1', true, {}, -0.001, 1.1e15, 1e300],
      cost: ['1', true, {}, -1e-12, 1.1e12],
      input_data: [7, true],
      output_data: [7, true],
      attributes: [7, 'x', true, []],
      tags,
      trace_tags: tags,
      session_tags: tags,
      error_code: text,
      error_message: text,
      error_stack: text,
      code_filepath: text,
      code_lineno: ['1', 1.5, -1, 2 ** 53, true],
      signals: [
        ...[7, 'x', [], true, { ok: null }, { ok: '' }, { ok: [] }, { ok: {} }, { '': 1 }, { 'a\nb': 1 }],
        ...[{ ok: 'x'.repeat(10_001) }, { ['k'.repeat(129)]: 1 }, { ok: { value: 1, type: 'odd' } }],
        Object.fromEntries(Array.from({ length: 101 }, (_, key) => [key, 1])),
      ],
      ab_choices: [
        ...[7, 'x', {}, [7]],
        ...[{ choice_name: 'c' }, { choice_name: '', variant_key: 'v' }].map((choice) => [choice]),
        ...[{ variant_key: '' }, { variant_key: 'x'.repeat(201) }, { choice_name: 'c'.repeat(126) }].map((bad) => [
          { choice_name: 'c', variant_key: 'v', ...bad },
        ]),
        Array(101).fill({ choice_name: 'c', variant_key: 'v' }),
      ],
    };
    expect(Object.keys(bad).sort()).to.deep.equal(Object.keys(SpanInput.properties).sort());
    const cases = Object.entries(bad).flatMap(([field, values]) => values.map((value) => [field, value] as const));
    await each(cases, async ([field, value]) => {
      const found = Object.keys(await sender.issues({ [field]: value }));
      const label = `${field} = ${JSON.stringify(value).slice(0, 80)}: ${found.join(' ')}`;
      expect(found, label).to.have.length(1);
      expect(found[0]?.split('/')[0], label).to.equal(field);
    });
    expect(await api.refused('POST', 'spans', [null, 7, 'x', [], true])).to.have.all.keys('/0', '/1', '/2', '/3', '/4');
  });

  it('numbers that JSON writes but no number holds', async () => {
    for (const field of ['duration_ms', 'cost', 'started_at', 'code_lineno']) {
      const body = JSON.stringify([sender.span()]).replace(
        /("started_at":"[^"]*")?\}\]$/,
        (_, start: string | undefined) => `${field === 'started_at' ? '' : `${start},`}"${field}":1e999}]`,
      );
      const response = await api.send('POST', 'spans', '', { body });
      expect(response.status, body).to.equal(422);
      expect(response.json.errors.map(({ pointer }: Row) => pointer)).to.deep.equal([`/0/${field}`]);
    }
  });
});
