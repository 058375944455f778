import { expect } from 'chai';
import { captureContext, withSection, type BenchSection } from '../../bench/results.js';

/** Of one moment: the load changes by itself. */
const context = captureContext();

const section = (name: string, value: number): BenchSection => ({
  name,
  command: `npm run bench -- ${name}`,
  context,
  engine: '25.8.1',
  about: 'What was measured.',
  columns: ['clients', 'spans/s'],
  rows: [[16, value]],
});

describe('bench results', () => {
  it('replace their own section and keep the others', () => {
    const both = withSection(withSection('# Results\n\nHead.\n', section('ingest', 1)), section('lists', 2));
    const again = withSection(both, section('ingest', 3));
    expect(again).to.match(/^# Results\n\nHead\.\n\n## ingest\n[^#]*\| 16 \| 3 \|\n\n## lists\n[^#]*\| 16 \| 2 \|\n$/);
    expect(again).not.to.include('| 16 | 1 |');
  });

  it('do not change when the same section is written twice', () => {
    const once = withSection('# Results\n', section('ingest', 1));
    const written = withSection(once, section('ingest', 1));
    expect(written).to.equal(once);
  });

  it('say on what they were measured', () => {
    expect(withSection('# Results\n', section('ingest', 1))).to.match(
      /`npm run bench -- ingest` · \d{4}-\d\d-\d\d \d\d:\d\d UTC · commit \S+.* · \d+ cores \(.*\), \d+ GB · load before [\d.]+ · Node\.js \d.* · ClickHouse 25\.8\.1/,
    );
  });
});
