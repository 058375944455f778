import { expect } from 'chai';
import { addressOfView, addressWith, filtersOf, viewOf } from '../../src/console/model/list-address.js';
import { selectionOf } from '../../src/console/model/list-query.js';
import { columnsOf } from '../../src/console/model/list-columns.js';
import { spanList } from '../../src/engine/traces/model/list/definitions.js';

const USUAL = columnsOf(spanList, null);
const view = (address: string, columns = USUAL) => viewOf(spanList, new URLSearchParams(address), columns);
const opened = (query: string, columns: string[] | null = null) =>
  addressOfView({ id: 'v', query, columns }).toString();

describe('a list as saved views keep it', () => {
  it('is in parameters of the API alone', () => {
    expect(view('range=7d&status=error&sort_by=cost&offset=100&live=true&chart=scores.a')).to.deep.equal({
      list: 'spans',
      query: 'status=error&started_after=7d&sort_by=cost',
      columns: null,
    });
    expect(view('', ['name']).columns).to.deep.equal(['name']);
    expect(view('range=all').query).to.equal('');
    expect(view('sort_by=nothing&sort_order=asc').query).to.equal('started_after=24h&sort_order=asc');
    expect(filtersOf(new URLSearchParams('from=2026-01-01T00:00:00Z&models=a%252Cb&env=x'))).to.equal(
      'models=a%252Cb&env=x',
    );
  });

  it('is the same list again in the address', () => {
    for (const address of [
      'range=7d&status=error',
      'range=all',
      'from=2026-01-01&to=2026-01-02',
      'id=a',
      'tags.range=x',
    ]) {
      const { query } = view(address);
      const again = addressOfView({ id: 'v', query, columns: null });
      expect(selectionOf(again).toString(), address).to.equal(query);
      expect(view(again.toString()).query, address).to.equal(query);
    }
    expect(opened('status=error&started_after=3d')).to.equal('status=error&range=3d&view=v');
    expect(opened('view=x&columns=y', ['name', 'tags.a,b'])).to.equal(
      'tags.view=x&tags.columns=y&range=all&columns=name%2Ctags.a%252Cb&view=v',
    );
    expect(opened('started_after=7d&started_before=1d')).to.equal('started_after=7d&started_before=1d&view=v');
    expect(addressWith('live=x', { range: null, from: '2026-01-01', to: null }).toString()).to.equal(
      'tags.live=x&from=2026-01-01',
    );
  });
});
