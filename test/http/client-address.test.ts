import { expect } from 'chai';
import { clientAddress, networkOf } from '../../src/http/wire/client-address.js';
import { bootServer } from '../harness/server.js';

describe('the address of a client behind proxies', () => {
  const behind = (header: string | undefined, proxies = 1) =>
    clientAddress(header === undefined ? {} : { 'x-forwarded-for': header }, '10.0.0.1', proxies);

  const entries: readonly (readonly [string, string])[] = [
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:51234', '203.0.113.7'],
    ['[2001:db8:1:2::7]:51234', '2001:db8:1:2::7'],
    ['[2001:db8:1:2::7]', '2001:db8:1:2::7'],
    ['2001:db8:1:2::7', '2001:db8:1:2::7'],
    ['2001:db8:1:2:3:4:5:51234', '2001:db8:1:2:3:4:5:51234'],
    ['::1', '::1'],
    ['[::ffff:203.0.113.7]:80', '::ffff:203.0.113.7'],
    ['::ffff:203.0.113.7', '::ffff:203.0.113.7'],
    ['unknown', 'unknown'],
    [':51234', '10.0.0.1'],
    ['[]:51234', '10.0.0.1'],
    ['', '10.0.0.1'],
  ];
  for (const [entry, address] of entries)
    it(`is ${address} in "${entry}"`, () => {
      expect(behind(entry)).to.equal(address);
      expect(behind(`198.51.100.1:9, ${entry}`)).to.equal(address);
      expect(behind(`${entry}, 198.51.100.1:9`, 2)).to.equal(address);
    });

  it('is that of the connection where no proxy is in front, or none wrote', () => {
    expect(behind('203.0.113.7:51234', 0)).to.equal('10.0.0.1');
    expect(behind(undefined)).to.equal('10.0.0.1');
    expect(behind('203.0.113.7:51234', 2)).to.equal('10.0.0.1');
  });

  it('counts as one network, whatever the port', () => {
    for (const [one, other] of [
      ['203.0.113.7:1', '203.0.113.7:2'],
      ['[2001:db8:1:2::7]:1', '[2001:db8:1:2::8]:2'],
      ['[::ffff:203.0.113.7]:1', '203.0.113.7:2'],
    ] as const)
      expect(networkOf(behind(one))).to.equal(networkOf(behind(other)));
  });

  it('limits failed sign-ins that come by ever other ports', async () => {
    const server = await bootServer({ env: { TRUSTED_PROXIES: '1' } });
    try {
      const statuses: number[] = [];
      for (let port = 50_000; port < 50_012; port += 1) {
        const { status } = await server.request('POST', '/console/session', {
          key: null,
          body: { key: 'sk_sh_no_such_key' },
          headers: { 'x-forwarded-for': `203.0.113.7:${port}` },
        });
        statuses.push(status);
      }
      expect(statuses.slice(0, 10)).to.not.include(429);
      expect(statuses.slice(10)).to.deep.equal([429, 429]);
    } finally {
      await server.dispose();
    }
  }).timeout(30_000);
});
