import { expect } from 'chai';
import { SharedLookUp } from '../../src/engine/work/shared-look-up.js';

describe('a shared look-up', () => {
  /** Look-ups that were begun, each to be ended by its test. */
  function observed() {
    const begun: { readonly party: string; readonly keys: readonly string[]; end(found?: readonly string[]): void }[] =
      [];
    const shared = new SharedLookUp((party, keys) => {
      return new Promise((resolve, reject) => {
        const end = (found?: readonly string[]) =>
          found === undefined ? reject(new Error('no answer')) : resolve(new Set(found));
        begun.push({ party, keys, end });
      });
    });
    return { begun, shared };
  }

  it('answers all who asked while another was under way, and begins after they did', async () => {
    const { begun, shared } = observed();
    const first = shared.find('a', ['1']);
    const [second, third] = [shared.find('a', ['2', '3']), shared.find('a', ['3', '4'])];
    const other = shared.find('b', ['9']);
    expect(begun.map(({ party, keys }) => [party, keys])).to.deep.equal([
      ['a', ['1']],
      ['b', ['9']],
    ]);
    begun[0]?.end(['1']);
    expect([...(await first)]).to.deep.equal(['1']);
    expect(begun[2]?.keys).to.deep.equal(['2', '3', '4']);
    const fourth = shared.find('a', ['5']);
    begun[2]?.end(['3']);
    expect([[...(await second)], [...(await third)]]).to.deep.equal([['3'], ['3']]);
    expect(begun[3]?.keys).to.deep.equal(['5']);
    begun[3]?.end([]);
    begun[1]?.end(['9']);
    expect([(await fourth).size, (await other).size]).to.deep.equal([0, 1]);
  });

  it('goes on after one that failed, and looks for many keys alone', async () => {
    const { begun, shared } = observed();
    const failed = shared.find('a', ['1']).catch((error: unknown) => String(error));
    const next = shared.find('a', ['2']);
    const many = Array.from({ length: 1_001 }, (_none, index) => String(index));
    const alone = shared.find('a', many);
    begun[0]?.end();
    expect(await failed).to.equal('Error: no answer');
    begun[1]?.end(['7']);
    expect([...(await alone)]).to.deep.equal(['7']);
    begun[2]?.end(['2']);
    expect([...(await next)]).to.deep.equal(['2']);
  });
});
