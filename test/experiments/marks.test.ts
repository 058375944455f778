import { expect } from 'chai';
import { experimentMarkOf as markOf } from '../../src/engine/traces/model/experiment/mark.js';
import { mapSpan } from '../otlp/requests.js';

const EXPERIMENT = '0199a1b2-0000-7000-8000-0000000000aa';
const TRACE = '0199a1b2-0000-7000-8000-0000000000bb';
const mark = (more = {}) => ({ experiment_id: EXPERIMENT, row_id: null, repetition: 1, made_in: null, ...more });
const whole = mark({ row_id: 'row 1', repetition: 3, made_in: TRACE });
const said = { id: EXPERIMENT, row_id: 'row 1', repetition: 3, trace_id: TRACE };

const SPAN = '00112233-4455-6677-0000-000000000000';
const experimentMarkOf = (attributes: Parameters<typeof markOf>[0]) => markOf(attributes, SPAN);

describe('the mark of a span of an experiment', () => {
  it('is read from attributes, as objects in each other or with dotted names', () => {
    const flat = Object.fromEntries(
      Object.entries(said).map(([name, value]) => [`spanhouse.experiment.${name}`, value]),
    );
    for (const attributes of [
      flat,
      { spanhouse: { experiment: said } },
      { 'spanhouse.experiment': said },
      {
        spanhouse: {
          'experiment.id': EXPERIMENT,
          'experiment.row_id': 'row 1',
          experiment: { repetition: 3, trace_id: TRACE },
        },
      },
    ])
      expect(experimentMarkOf(attributes), JSON.stringify(attributes)).to.deep.equal(whole);
  });

  it('is read from spans of OpenTelemetry', () => {
    const values = { 'spanhouse.experiment.id': EXPERIMENT, 'spanhouse.experiment.repetition': 2 };
    expect(experimentMarkOf(mapSpan(values).attributes)).to.deep.equal(mark({ repetition: 2 }));
  });

  it('is also that of Langfuse, where its id is a UUID', () => {
    const langfuse = { experiment: { id: EXPERIMENT, item: { id: 'item 1' } } };
    expect(experimentMarkOf({ langfuse })).to.deep.equal(mark({ row_id: 'item 1' }));
    const flat = { 'langfuse.experiment.id': EXPERIMENT, 'langfuse.experiment.item.id': 'item 1' };
    expect(experimentMarkOf(flat)).to.deep.equal(mark({ row_id: 'item 1' }));
    expect(experimentMarkOf({ 'langfuse.experiment.id': 'a name' })).to.equal(null);
    // Every span that is made for an item says so; one of them is the result.
    const said = (root: string) => experimentMarkOf({ ...flat, 'langfuse.experiment.item.root_observation_id': root });
    expect(said('0011223344556677')).to.deep.equal(mark({ row_id: 'item 1' }));
    expect(said('8899aabbccddeeff')).to.deep.equal(mark());
  });

  it('has ids in lower case, and those of traces in any form', () => {
    const experiment = { id: EXPERIMENT.toUpperCase(), trace_id: TRACE.replaceAll('-', '') };
    expect(experimentMarkOf({ spanhouse: { experiment } })).to.deep.equal(mark({ made_in: TRACE }));
  });

  it('is none where anything of it is malformed, or there is no experiment', () => {
    for (const wrong of [
      { id: 'an experiment' },
      { id: 7 },
      { id: undefined },
      { id: null },
      { row_id: '' },
      { row_id: 7 },
      { row_id: 'x'.repeat(257) },
      { repetition: 0 },
      { repetition: 1.5 },
      { repetition: 'first' },
      { repetition: 2 ** 32 },
      { trace_id: 'here' },
      { trace_id: 1 },
    ])
      expect(experimentMarkOf({ spanhouse: { experiment: { ...said, ...wrong } } }), JSON.stringify(wrong)).to.equal(
        null,
      );
    for (const attributes of [{}, { spanhouse: 1 }, { spanhouse: [] }, { spanhouse: { experiment: null } }])
      expect(experimentMarkOf(attributes)).to.equal(null);
  });

  it('counts characters of rows, not their parts', () => {
    const row_id = '🙂'.repeat(256);
    expect(experimentMarkOf({ spanhouse: { experiment: { ...said, row_id } } })).to.include({ row_id });
  });
});
