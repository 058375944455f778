import { expect } from 'chai';
import { CheckedApi, listNames, span, uuid } from '../harness/checked-api.js';
import { storeSample } from './sample.js';

describe('lists by time and text', () => {
  let api: CheckedApi;

  before(async () => {
    api = await CheckedApi.boot();
    await storeSample(api);
  });
  after(() => api.dispose());

  describe('created_after and created_before', () => {
    const forms = (time: string): Record<string, string> => {
      const [day, clock] = [time.slice(0, 10), time.slice(11, 26)];
      const date = new Date(time);
      const moved = (minutes: number) =>
        new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, 19) + time.slice(19, 26);
      const micros = Math.floor(date.getTime() / 1000) * 1_000_000 + Number(time.slice(20, 26));
      return {
        'as it is answered': encodeURIComponent(time),
        'without offset': `${day}T${clock}`,
        'with a blank': `${day}%20${clock}`,
        'lower-case z': `${day}T${clock}z`,
        'plus 00:00, encoded': `${day}T${clock}%2B00:00`,
        'plus 02:00, encoded': `${moved(120)}%2B02:00`,
        'plus 02:00, not encoded': `${moved(120)}+02:00`,
        'plus 0530, not encoded': `${moved(330)}+0530`,
        'minus 03:30': `${moved(-210)}-03:30`,
        'minus 08': `${moved(-480)}-08`,
        'a comma before the fraction': `${day}T${clock.replace('.', ',')}Z`,
        'Unix seconds': (micros / 1e6).toFixed(6),
        'Unix milliseconds': (micros / 1e3).toFixed(3),
        'more digits than kept': `${day}T${clock}000Z`,
        'basic format': `${day.replaceAll('-', '')}T${clock.replaceAll(':', '')}Z`,
      };
    };

    it('every form of a time means the same moment, to the microsecond', async () => {
      const rows = await api.get('spans', 'sort_order=asc');
      const times = [...new Set(rows.map(({ created_at }) => created_at as string))].sort();
      const time = times.find((time) => !time.endsWith('000Z') && time > (times[0] ?? '')) ?? '';
      expect(time).to.not.equal('');
      const after = rows.filter(({ created_at }) => created_at >= time).map(({ id }) => id);
      const before = rows.filter(({ created_at }) => created_at <= time).map(({ id }) => id);
      expect(after).to.not.have.length(rows.length);
      for (const [form, text] of Object.entries(forms(time))) {
        expect(await api.ids('spans', `sort_order=asc&created_after=${text}`), form).to.deep.equal(after);
        expect(await api.ids('spans', `sort_order=asc&created_before=${text}`), form).to.deep.equal(before);
      }
    });

    it('a day alone is its midnight; the limits of what can be kept', async () => {
      const all = await api.ids('spans');
      expect(await api.ids('spans', 'created_after=2025-06-01')).to.deep.equal(all);
      expect(await api.ids('spans', 'created_before=2025-06-01')).to.deep.equal([]);
      expect(
        await api.ids('spans', 'created_after=1970-01-01T00:00:00Z&created_before=2254-12-31T23:59:59.999999Z'),
      ).to.deep.equal(all);
      expect(await api.ids('spans', 'created_after=0')).to.deep.equal(all);
      for (const list of listNames) expect(await api.ids(list, 'created_before=1970-01-01')).to.deep.equal([]);
    });
  });

  describe('q=', () => {
    const inputs = [
      'needle in input',
      '100% "quoted" \\ back',
      'NULL\0byte',
      'Grüße, ÄÖÜ',
      'emoji 🧪',
      "it's",
      'a\tb\nc',
      '%',
      '_',
    ];

    before(async () => {
      await api.post(
        'spans',
        inputs.map((text, index) =>
          span(5000 + index, {
            session_id: uuid(6000 + index),
            [index % 2 === 0 ? 'input_data' : 'output_data']: `before ${text} after`,
          }),
        ),
      );
      await api.post('spans', [
        span(5100, {
          session_id: uuid(6100),
          attributes: { text: 'needle' },
          tags: { needle: 'needle' },
          error_stack: 'needle',
        }),
        span(5101, { session_id: uuid(6101), error_message: 'Rate limit of Ärger reached', output_data: 'partial' }),
        span(5102, { session_id: uuid(6102), error_code: 'TooManyRequests', input_data: 'Rate' }),
      ]);
    });

    it('finds text in input, output and errors of spans, and their traces and sessions', async () => {
      for (const [index, text] of inputs.entries()) {
        const ids = { spans: uuid(5000 + index), traces: uuid(1_005_000 + index), sessions: uuid(6000 + index) };
        const exact = text.length === 1 ? `before ${text} after` : text;
        for (const list of listNames)
          expect(await api.ids(list, [['q', exact]]), `${list} ${JSON.stringify(text)}`).to.deep.equal([ids[list]]);
      }
      for (const list of listNames) {
        const offset = { spans: 0, traces: 1_000_000, sessions: 1_000 }[list];
        expect(await api.ids(list, [['q', 'limit OF äRGER']]), list).to.deep.equal([uuid(5101 + offset)]);
        expect(await api.ids(list, [['q', 'toomanyrequests']]), list).to.deep.equal([uuid(5102 + offset)]);
        expect(await api.ids(list, [['q', 'partialRate']]), list).to.deep.equal([]);
      }
    });
    it('whatever the case, and not elsewhere', async () => {
      for (const list of listNames) {
        expect(await api.ids(list, 'q=NEEDLE')).to.have.length(1);
        expect(await api.ids(list, [['q', 'grÜSSE, äöü'.replace('SS', 'ß')]])).to.have.length(1);
        expect(await api.ids(list, 'q=needle%20in%20output')).to.deep.equal([]);
        expect(await api.ids(list, [['q', 'bef%after']])).to.deep.equal([]);
        expect((await api.send('GET', list, 'q=before&count=true&limit=1')).headers.get('x-total-count')).to.equal(
          String(inputs.length),
        );
        expect((await api.ids(list, 'q=')).length).to.be.greaterThan(inputs.length);
      }
    });
  });
});
