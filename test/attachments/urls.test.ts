import { join } from 'node:path';
import { expect } from 'chai';
import { GrantSigner } from '../../src/features/images/signature.js';
import { DATABASE_FILE, openDatabase } from '../../src/engine/metadata/database.js';
import { readSecret } from '../../src/engine/metadata/secrets.js';
import { AttachmentApi, download } from './attachment-api.js';
import { base64, images, png, sha } from './images.js';

describe('attachments over HTTP', () => {
  let api: AttachmentApi;

  before(async () => {
    api = await AttachmentApi.boot();
  });
  after(() => api.dispose());

  describe('URLs', () => {
    let good: URL;

    before(async () => {
      const [listed] = await api.list(
        await api.post({ attributes: { attachments: [{ base64: base64(images.png) }] } }),
      );
      good = new URL(listed!.url);
    });

    const changed = (change: (url: URL) => void) => {
      const url = new URL(good);
      change(url);
      return url;
    };

    async function expectForbidden(url: URL): Promise<void> {
      const answer = await fetch(url);
      expect(answer.status, url.href).to.equal(403);
      expect(answer.headers.get('content-type')).to.equal('application/problem+json');
      expect(await answer.text()).to.include('urn:spanhouse:problem:forbidden');
    }

    it('work without a key, for one hour, also by HEAD and If-None-Match', async () => {
      expect(Number(good.searchParams.get('expires')) - Date.now() / 1000).to.be.within(3500, 3600);
      const head = await fetch(good, { method: 'HEAD' });
      expect([head.status, head.headers.get('content-length')]).to.deep.equal([200, String(images.png.length)]);
      const etag = head.headers.get('etag') ?? '';
      const known = await fetch(good, { headers: { 'if-none-match': `"other", ${etag}` } });
      expect([known.status, known.headers.get('etag'), await known.text()]).to.deep.equal([304, etag, '']);
      expect((await fetch(good, { headers: { 'if-none-match': '"other"' } })).status).to.equal(200);
    });

    it('tampered are refused, whatever was changed', async () => {
      const later = String(Number(good.searchParams.get('expires')) + 1);
      await expectForbidden(changed((url) => url.searchParams.set('expires', later)));
      await expectForbidden(changed((url) => url.searchParams.delete('expires')));
      await expectForbidden(changed((url) => url.searchParams.delete('signature')));
      await expectForbidden(changed((url) => url.searchParams.set('signature', '')));
      await expectForbidden(
        changed((url) => url.searchParams.set('signature', `${url.searchParams.get('signature') ?? ''}A`)),
      );
      await expectForbidden(changed((url) => (url.pathname = url.pathname.replace(sha(images.png), sha(images.gif)))));
      await expectForbidden(changed((url) => (url.pathname = url.pathname.replace(/.$/, '%0A'))));
      await expectForbidden(
        changed((url) => (url.pathname = url.pathname.toUpperCase().replace('/ATTACHMENTS', '/attachments'))),
      );
      await expectForbidden(changed((url) => (url.search = '')));
      const signature = good.searchParams.get('signature') ?? '';
      for (const at of [0, 20, signature.length - 2]) {
        const flipped = signature.slice(0, at) + (signature[at] === 'A' ? 'B' : 'A') + signature.slice(at + 1);
        await expectForbidden(changed((url) => url.searchParams.set('signature', flipped)));
      }
    });

    it('of another project are refused', async () => {
      const { projectId: id } = api.anotherProject();
      await expectForbidden(changed((url) => (url.pathname = url.pathname.replace(api.server.projectId, id))));
    });

    it('signed by somebody else, or expired, are refused', async () => {
      const now = Math.floor(Date.now() / 1000);
      const database = openDatabase(join(api.server.dataDir, DATABASE_FILE));
      const own = new GrantSigner(readSecret(database, 'attachment-urls'));
      database.close();
      const signed = (signer: GrantSigner, expires: number) => {
        const signature = signer.sign({ projectId: api.server.projectId, sha256: sha(images.png), expires });
        return changed((url) => (url.search = new URLSearchParams({ expires: String(expires), signature }).toString()));
      };
      expect((await fetch(signed(own, now + 60))).status).to.equal(200);
      await expectForbidden(signed(own, now - 1));
      await expectForbidden(signed(new GrantSigner(Buffer.alloc(32, 7)), now + 60));
    });

    it('still work after a restart, under the base that is configured', async () => {
      const bytes = png(60);
      const id = await api.post({ attributes: { attachments: [{ base64: base64(bytes) }] } });
      const [before] = await api.list(id);
      await api.restart({ PUBLIC_URL: 'https://traces.example/base/' });
      const old = new URL(before!.url);
      expect((await download(`${api.server.url}${old.pathname}${old.search}`)).equals(bytes)).to.equal(true);
      const [after] = await api.list(id);
      expect(after!.url.startsWith('https://traces.example/base/attachments/')).to.equal(true);
    });
  });
});
