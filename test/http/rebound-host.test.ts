import { request } from 'node:http';
import { expect } from 'chai';
import { bootServer, type TestServer } from '../harness/server.js';

const CHROME = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36' };
const FIREFOX_IN_DISGUISE = { 'user-agent': 'curl/8.5', 'accept-language': '' };

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** What the server answers to a request for the name of a host: a page's, whose name was bound to this address since. */
function asked(port: number, path: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, host: '127.0.0.1', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => (text += more));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end();
  });
}

describe('a page whose name was rebound to the address of the server', () => {
  let server: TestServer;
  before(async () => {
    server = await bootServer({ env: { PUBLIC_URL: 'https://traces.example.com/sub' } });
  });
  after(() => server.dispose());

  const statuses = async (host: string, headers: Record<string, string>) => {
    const paths = ['/metrics', '/readyz'];
    const answers = await Promise.all(paths.map((path) => asked(server.port, path, { host, ...headers })));
    return answers.map(({ status }) => status);
  };

  it('reads neither metrics nor readiness', async () => {
    for (const host of [
      'evil.example',
      `evil.example:${server.port}`,
      '127.0.0.1.evil.example',
      'traces.example.com.evil',
    ])
      for (const headers of [CHROME, FIREFOX_IN_DISGUISE])
        expect(await statuses(host, headers), host).to.deep.equal([403, 403]);
    for (const host of ['localhost.evil.example', '127.0.0.1@evil.example', 'evil.example/', 'a b', 'evil.example.'])
      expect(await statuses(host, CHROME), host).to.deep.equal([403, 403]);
    const { text } = await asked(server.port, '/metrics', { host: 'evil.example', ...CHROME });
    expect(text).to.include('PUBLIC_URL').and.include('evil.example').and.not.include('spanhouse_spans');
  });

  it('is told from browsers that ask for the server by an address or a name of its own', async () => {
    const own = ['localhost', 'LOCALHOST', `127.0.0.1:${server.port}`, '[::1]:4318', '192.168.1.5', 'app.localhost'];
    for (const host of [...own, 'spanhouse:4318', 'traces.example.com', 'Traces.Example.com.:443'])
      expect(await statuses(host, CHROME), host).to.deep.equal([200, 200]);
  });

  it('is told from programs, by whatever name they ask, also through a proxy of this machine', async () => {
    for (const agent of ['Prometheus/2.53.0', 'curl/8.5.0', 'kube-probe/1.30', 'ELB-HealthChecker/2.0'])
      expect(await statuses('metrics.internal.example.org', { 'user-agent': agent })).to.deep.equal([200, 200]);
  });

  it('changes nothing of what needs a key or a token', async () => {
    const key = { authorization: `Bearer ${server.key}`, host: 'other.example.com', ...CHROME };
    expect((await asked(server.port, '/spans', key)).status).to.equal(200);
    const tokened = await bootServer({ env: { METRICS_TOKEN: 'secret-of-metrics' } });
    try {
      const headers = { authorization: 'Bearer secret-of-metrics', host: 'other.example.com', ...CHROME };
      expect((await asked(tokened.port, '/metrics', headers)).status).to.equal(200);
    } finally {
      await tokened.dispose();
    }
  });
});
