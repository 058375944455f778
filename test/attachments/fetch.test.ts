import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { ImageSource } from '../../src/features/images/intake.js';
import { createImageFetcher } from '../../src/features/images/store/image-fetcher.js';
import { unhurried } from '../harness/program.js';
import { bootServer } from '../harness/server.js';
import { SWITCH } from '../webhooks/receiver.js';
import { images, svg } from './images.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface Host {
  readonly name: string;
  /** Paths asked for. */
  readonly asked: string[];
  stop(): Promise<void>;
}

async function host(answer: Answer, address = '127.0.0.1'): Promise<Host> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  });
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    name: `${address}:${port}`,
    asked,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const redirect =
  (location: string): Answer =>
  (_request, response) =>
    response.writeHead(302, { location }).end();
const image: Answer = (_request, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(images.png);

describe('fetching images', () => {
  let site: Host;
  let other: Host;
  let reasons: string[];

  before(async () => {
    other = await host(image, '127.0.0.2');
    site = await host((request, response) => {
      const path = request.url ?? '';
      const hops = /^\/hops\/(\d+)$/.exec(path);
      if (hops !== null) {
        const left = Number(hops[1]);
        redirect(left === 1 ? '/image' : `/hops/${left - 1}`)(request, response);
      } else if (path === '/image') image(request, response);
      else if (path === '/svg') response.writeHead(200, { 'content-type': 'image/png' }).end(svg);
      else if (path === '/elsewhere') redirect(`http://${other.name}/image`)(request, response);
      else if (path === '/file') redirect('file:///etc/passwd')(request, response);
      else if (path === '/large') {
        response.writeHead(200);
        response.write(images.gif);
        const more = () => void response.write(Buffer.alloc(1024 * 1024), more);
        response.on('error', () => undefined);
        more();
      } else if (path === '/switch') response.socket?.write(SWITCH);
      else if (path === '/slow') response.writeHead(200).write(images.png.subarray(0, 8));
      else response.writeHead(404).end();
    });
  });
  after(async () => {
    await site.stop();
    await other.stop();
  });
  beforeEach(() => {
    reasons = [];
    site.asked.length = 0;
    other.asked.length = 0;
  });

  function fetcher(hosts: readonly string[], extraAddresses: readonly string[] = ['127.0.0.1']): ImageSource['fetch'] {
    const observer = { attachmentNotFetched: ({ reason }: { reason: string }) => void reasons.push(reason) };
    return createImageFetcher({ hosts, extraAddresses, observer }).fetch;
  }

  it('gives the image of a listed host, also through three redirects', async () => {
    for (const path of ['/image', '/hops/3']) {
      const fetched = await fetcher([site.name])(`http://${site.name}${path}`);
      expect(fetched?.bytes.equals(images.png), path).to.equal(true);
      expect(fetched?.type).to.equal('image/png');
    }
  });

  it('asks no host that is not listed, and no other port of one that is', async () => {
    const urls = [`http://${other.name}/image`, `http://${site.name}/image`, `http://user:pw@${site.name}/image`];
    for (const url of urls) expect(await fetcher(['127.0.0.1', 'images.example'])(url), url).to.equal(null);
    expect(await fetcher([site.name])(`http://user:pw@${site.name}/image`)).to.equal(null);
    expect([...site.asked, ...other.asked]).to.deep.equal([]);
  });

  it('asks no private address, however it is written and resolved', async () => {
    const port = site.name.split(':')[1] ?? '';
    const mapped = ['[::ffff:127.0.0.1]', '[::127.0.0.1]'];
    const names = ['127.0.0.1', 'localhost', '0.0.0.0', '[::1]', ...mapped, '10.0.0.1', '169.254.169.254'];
    const hosts = names.map((name) => new URL(`http://${name}:${port}`).host);
    for (const name of hosts) expect(await fetcher(hosts, [])(`http://${name}/image`), name).to.equal(null);
    expect(await fetcher(hosts, [])(`http://2130706433:${port}/image`)).to.equal(null);
    expect(site.asked).to.deep.equal([]);
    expect(reasons).to.have.lengthOf(names.length + 1);
    for (const reason of reasons) expect(reason).to.match(/is not allowed/);
  });

  it('follows no redirect to a private address, to a host not listed or away from HTTP', async () => {
    expect(await fetcher([site.name, other.name])(`http://${site.name}/elsewhere`)).to.equal(null);
    expect(await fetcher([site.name], ['127.0.0.1', '127.0.0.2'])(`http://${site.name}/elsewhere`)).to.equal(null);
    expect(await fetcher([site.name])(`http://${site.name}/file`)).to.equal(null);
    expect(other.asked).to.deep.equal([]);
    expect(reasons[0]).to.match(/is not allowed/);
    expect(reasons.slice(1)).to.deep.equal(Array(2).fill('redirected to a host that is not allowed'));
    // The same redirect is followed where both are allowed: it was the rule that stopped it.
    const both = fetcher([site.name, other.name], ['127.0.0.1', '127.0.0.2']);
    expect((await both(`http://${site.name}/elsewhere`))?.type).to.equal('image/png');
  });

  it('takes no fourth redirect, no missing page, nothing that is no image and nothing too large', async () => {
    for (const path of ['/hops/4', '/missing', '/svg', '/large', '/switch'])
      expect(await fetcher([site.name])(`http://${site.name}${path}`), path).to.equal(null);
    expect(reasons).to.deep.equal([
      'redirected more than 3 times',
      'answered 404',
      'not an image of a supported type',
      'it is too large',
      'answered 101',
    ]);
  });

  it('does not wait for a host that stalls', async () => {
    const started = performance.now();
    expect(await fetcher([site.name])(`http://${site.name}/slow`)).to.equal(null);
    expect(performance.now() - started).to.be.within(4_000, unhurried(9_000));
  });

  it('copies the image of a span in a server that lists the host; what cannot be had stays a reference', async () => {
    const env = { ATTACHMENT_FETCH_HOSTS: `cdn.example, ${site.name}` };
    const server = await bootServer({
      env,
      createImageFetcher: (options) => createImageFetcher({ ...options, extraAddresses: ['127.0.0.1'] }),
    });
    try {
      const id = randomUUID();
      const [url, missing] = [`http://${site.name}/image`, `http://${site.name}/missing`];
      const span = {
        id,
        trace_id: randomUUID(),
        name: 'linked',
        started_at: Date.now(),
        attributes: { attachments: [{ url, label: 'copied' }, { url: missing }] },
        output_data: [
          { type: 'image', url },
          { title: 'a page', url },
        ],
      };
      expect((await server.request('POST', '/spans', { body: [span] })).status).to.equal(200);
      const { attachments } = (await server.request('GET', `/spans/${id}/attachments`)).json;
      expect(attachments.map((one: { url: string }) => one.url.startsWith(server.url))).to.deep.equal([
        true,
        false,
        true,
      ]);
      expect(attachments[1].url).to.equal(missing);
      for (const { url: copy } of [attachments[0], attachments[2]])
        expect(Buffer.from(await (await fetch(copy)).arrayBuffer()).equals(images.png)).to.equal(true);
      const [read] = (await server.request('GET', `/spans?id=${id}`)).json;
      expect(read.attributes.attachments[0]).to.include({ url, label: 'copied', media_type: 'image/png' });
      expect(JSON.parse(read.output_data)[1]).to.deep.equal({ title: 'a page', url });
      expect(site.asked).to.have.lengthOf(3);
    } finally {
      await server.dispose();
    }
  });
});
