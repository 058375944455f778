import { expect } from 'chai';
import { sessionList, spanList, traceList } from '../../src/engine/traces/model/list/definitions.js';
import { joinValues, splitValues } from '../../src/engine/traces/model/list/comma-values.js';
import { filterOfScore } from '../../src/console/model/score-draft.js';
import { optionsFor } from '../../src/console/model/filter-choices.js';
import {
  conditionsOf,
  fieldLabel,
  isNewestFirst,
  listLink,
  listRangeOf,
  pageOf,
  pageQuery,
  propertiesOf,
  scoreProperty,
  selectionOf,
  tagProperty,
  withCondition,
  withoutCondition,
  withoutConditions,
  type Property,
} from '../../src/console/model/list-query.js';

const query = (text: string) => new URLSearchParams(text);
const shown = (text: string) => conditionsOf(spanList, query(text)).map(({ words, value }) => `${words} ${value}`);
const property = (parameter: string) => propertiesOf(spanList).find((one) => one.parameter === parameter)!;

describe('the query of a list in the console', () => {
  it('explains its filters without the marks of the manual', () => {
    for (const list of [spanList, traceList, sessionList])
      for (const { description } of propertiesOf(list)) expect(description).not.to.match(/^$|`/);
  });

  it('names every field, filter and tag that the address has, also those that it does not know', () => {
    expect(
      shown('names=plan,a%252Cb&status=error&duration_min=5&environment=dev&tags.range=7&q=hi&internal=only'),
    ).to.deep.equal([
      'Name is plan',
      'Name is a,b',
      'Status is error',
      'Duration ≥ 5',
      'Tag environment is dev',
      'Tag range is 7',
      'Input, output or error contains hi',
      'Internal calls only',
    ]);
    expect(shown('range=7d&from=x&columns=name&live=true&limit=5&offset=10&sort_by=cost&sort_order=asc')).to.deep.equal(
      [],
    );
    expect(
      conditionsOf(sessionList, query('models=gpt-4o,claude')).map(({ words, value }) => `${words} ${value}`),
    ).to.deep.equal(['Model is gpt-4o', 'Model is claude']);
  });

  it('adds and removes single values, and goes back to the first page', () => {
    const names = { ...property('names'), value: 'a,b' };
    const one = withCondition(spanList, query('names=plan&offset=100&range=7d'), names);
    expect(one.get('names')).to.equal('plan,a%2Cb');
    expect(one.has('offset')).to.equal(false);
    expect(withoutCondition(spanList, one, { ...names, value: 'plan' }).get('names')).to.equal('a%2Cb');
    expect(withoutCondition(spanList, query('names=x&range=7d'), { ...names, value: 'x' }).toString()).to.equal(
      'range=7d',
    );
    const status = { ...property('status'), value: 'ok' };
    expect(withCondition(spanList, query('status=error'), status).getAll('status')).to.deep.equal(['ok']);
    const tag = { ...tagProperty('limit'), value: 'b' };
    expect(withCondition(spanList, query('tags.limit=a'), tag).toString()).to.equal('tags.limit=a&tags.limit=b');
    expect(withCondition(spanList, query('tags.limit=b'), tag).toString()).to.equal('tags.limit=b');
    const [bare] = conditionsOf(spanList, query('environment=dev&environment=prod'));
    expect(withoutCondition(spanList, query('environment=dev&environment=prod'), bare!).toString()).to.equal(
      'environment=prod',
    );
    expect(withoutConditions(spanList, query('names=a&x=b&range=7d&sort_by=cost&offset=5')).toString()).to.equal(
      'range=7d&sort_by=cost',
    );
  });

  it('knows scores, whose values are given like names, and of numbers a range alone', () => {
    expect(shown('scores.tone=calm,a%252Cb&scores.quality=0.5..1&scores.a=1&scores.a=2&scores.=x')).to.deep.equal([
      'Score tone is calm',
      'Score tone is a,b',
      'Score quality is 0.5..1',
      'Score a is 1',
      'Score a is 2',
      'Tag scores. is x',
    ]);
    const after = (text: string, value: string) =>
      withCondition(spanList, query(text), { ...scoreProperty('x'), value }).get('scores.x');
    expect(after('', 'a,b')).to.equal('a%2Cb');
    expect(after('scores.x=calm', 'happy')).to.equal('calm,happy');
    expect(after('scores.x=1,2', '0.5..')).to.equal('0.5..');
    expect(after('scores.x=..-1e3', '2')).to.equal('2');
    const [calm] = conditionsOf(spanList, query('scores.x=calm,happy'));
    expect(withoutCondition(spanList, query('scores.x=calm,happy'), calm!).toString()).to.equal('scores.x=happy');
    expect(selectionOf(query('scores.x=1&range=all&chart=scores.x&chart_by=name')).toString()).to.equal('scores.x=1');
    expect(pageOf(spanList, query('sort_by=scores.x')).sort).to.equal('scores.x');
    expect(pageOf(spanList, query('sort_by=scores.')).sort).to.equal('started_at');
    expect(isNewestFirst(spanList, query('sort_by=scores.x'))).to.equal(false);
  });

  it('asks the API for what the address means', () => {
    expect(selectionOf(query('names=a&columns=b&live=true&offset=3')).toString()).to.equal('names=a&started_after=24h');
    expect(selectionOf(query('trace_id=7')).toString()).to.equal('trace_id=7');
    expect(selectionOf(query('trace_id=7&range=1h')).toString()).to.equal('trace_id=7&started_after=1h');
    expect(selectionOf(query('started_after=5d')).toString()).to.equal('started_after=5d');
    expect(selectionOf(query('started_after=5d&range=1h')).getAll('started_after')).to.deep.equal(['5d']);
    expect(selectionOf(query('from=2026-01-01&to=2026-01-02')).toString()).to.equal(
      'started_after=2026-01-01&started_before=2026-01-02',
    );
    expect(selectionOf(query('range=all')).toString()).to.equal('');
    expect(listRangeOf(query('id=7')).range).to.equal('all');
    expect(pageQuery(traceList, query('range=all'), ['id', 'name']).toString()).to.equal(
      'sort_by=started_at&sort_order=desc&limit=100&fields=id%2Cname&text_limit=600',
    );
  });

  it('takes what makes no sense in an address as not said', () => {
    const page = pageOf(traceList, query('sort_by=constructor&limit=1e9&offset=-1'));
    expect(page).to.deep.equal({ sort: 'started_at', descending: true, limit: 100, offset: 0 });
    expect(isNewestFirst(traceList, query('sort_by=nonsense'))).to.equal(true);
    expect(isNewestFirst(traceList, query('sort_by=cost'))).to.equal(false);
    expect(isNewestFirst(traceList, query('offset=100'))).to.equal(false);
  });

  it('is handed on to a detail, without what is about the view alone', () => {
    const link = listLink('spans', query('names=a&live=true&offset=100&x=%26&columns=name'));
    expect(link).to.equal('spans?names=a&offset=100&x=%26');
    expect(listLink('traces', query(''))).to.equal('traces');
  });

  it('separates values by commas, whatever they hold', () => {
    for (const values of [['a'], ['a,b', 'c'], ['50%2C', '%252c', '%,'], ['%25252C,%2c']])
      expect(splitValues(joinValues(values))).to.deep.equal(values);
    expect(joinValues(['100%'])).to.equal('100%');
  });

  it('labels fields as people say them', () => {
    expect(
      ['duration_ms', 'started_at', 'span_count', 'root_span_input', 'trace_id', 'input_data'].map(fieldLabel),
    ).to.deep.equal(['Duration', 'Started', 'Spans', 'Input', 'Trace ID', 'Input']);
  });
});

const NO_RULES = {
  ...{ min: null, max: null, categories: null, direction: null, description: null },
  ...{ created_at: '', updated_at: '' },
};

describe('what the filter bar offers', () => {
  const labels = (text: string, parameter: string | null = null, suggested: { value: string; count: number }[] = []) =>
    optionsFor(spanList, parameter === null ? null : property(parameter), text, suggested).map(({ label, note }) =>
      note === undefined ? label : `${label} (${note})`,
    );

  it('takes a text as text to find, key=value as a filter or a tag', () => {
    expect(labels('refund')[0]).to.equal('Input, output or error contains refund');
    expect(labels('environment=dev')[0]).to.equal('Tag environment is dev');
    expect(labels('tags.environment=dev')[0]).to.equal('Tag environment is dev');
    expect(labels('names=plan')[0]).to.equal('Name is plan');
    expect(labels('dur')).to.include('Duration ≥').and.to.include('Duration ≤');
    expect(labels('envi', null, [{ value: 'environment', count: 12 }])).to.include('Tag environment is (12)');
  });

  it('begins with what people filter by most, then tags, then all the rest', () => {
    const all = labels('', null, [
      { value: 'environment', count: 12 },
      { value: 'user', count: 7 },
    ]);
    const first = ['Name is', 'User is (7)', 'Kind is', 'Model is', 'Has error is', 'Tag environment is (12)'];
    expect(all.slice(0, first.length)).to.deep.equal(first);
    expect(
      all.filter((label) => /user/i.test(label)),
      'once',
    ).to.have.length(1);
    expect(all.slice(first.length)).to.have.length(propertiesOf(spanList).length - 4);
    expect(all.at(-1)).to.equal('Input, output or error contains');
    expect(labels('us')).to.include('User is');
  });

  it('offers scores by name, of numbers ranges from what was typed, and of others their values', () => {
    const definition = { ...NO_RULES, name: 'Quality', kind: 'numeric' } as const;
    const scores = [filterOfScore(definition), filterOfScore({ ...NO_RULES, name: 'ok', kind: 'boolean' })];
    const offered = (text: string, of: Property | null = null) =>
      optionsFor(spanList, of, text, [], scores).map(({ label }) => label);
    expect(offered('qual')).to.include('Score Quality is');
    expect(offered('scores.Quality=0.5..1')[0]).to.equal('Score Quality is 0.5..1');
    expect(offered('scores.other=x')[0]).to.equal('Score other is x');
    expect(offered('0.5', scores[0])).to.deep.equal(['Score Quality is 0.5', '0.5..', '..0.5']);
    expect(offered('', scores[1])).to.deep.equal(['true', 'false']);
  });

  it('offers values with how many have them, and what was typed', () => {
    expect(labels('', 'status', [{ value: 'error', count: 1234 }])).to.deep.equal(['ok', 'error (1,234)', 'unset']);
    expect(labels('pl', 'names', [{ value: 'plan', count: 2 }])).to.deep.equal(['Name is pl', 'plan (2)']);
    expect(labels('plan', 'names', [{ value: 'plan', count: 2 }])).to.deep.equal(['Name is plan (2)']);
  });
});
