import { expect } from 'chai';
import fc from 'fast-check';
import { feedbackLinks, LinkedPrompt, shown, Visitor } from './linked-prompt.js';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
/** With one of our own, and both in two places: as many images as a span may have. */
const URLS_PER_SPAN = 2;
const SPANS_OF_A_LINK = 20;
const LINKS = 5;

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** Everything in a page that a browser would follow or load, as the browser resolves it. */
function targetsIn(page: string, pageUrl: string): URL[] {
  const attributes = page.matchAll(/\s(?:href|src|srcset|action|formaction|poster|data|xlink:href|ping)="([^"]*)"/gi);
  return [...attributes].map(
    ([, value = '']) =>
      new URL(
        value.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? ''),
        pageUrl,
      ),
  );
}

/** URLs that look like ours, like nobody's, or that parsers read in different ways. */
function hostileUrls(base: string): fc.Arbitrary<string> {
  const { host } = new URL(base);
  const beginnings = [
    `${base}/attachments/`,
    `${base.toUpperCase()}/attachments/`,
    `${base}/f/`,
    `${base}@evil.example/attachments/`,
    `http:\\\\${host}/attachments/`,
    `http:/${host}/attachments/`,
    '//',
    '/\\',
    '\\\\',
    'javascript:',
    'java\tscript:',
    'data:text/html,',
    'https://evil.example/',
    `https://evil.example/${base}/attachments/`,
  ];
  const pieces = [
    '..',
    '/',
    '//',
    '\\',
    '/\\',
    '%2e%2e',
    '%2F',
    '%5c',
    '.',
    '\t',
    '\n',
    'evil.example',
    'javascript:alert(1)',
    'http://evil.example',
    '?expires=1&signature=x',
    '#',
    '@',
    '"><a href="//evil.example',
    "' onerror=alert(1) ",
    'a'.repeat(64),
  ];
  const end = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((chosen) => chosen.join(''));
  return fc.tuple(fc.constantFrom(...beginnings), end).map(([beginning, rest]) => beginning + rest);
}

/** Anything else is refused as an attachment. */
const isLink = (url: string) => /^https?:\/\//i.test(url) && URL.canParse(url);

/** A span that says the URLs wherever it can. */
function withUrls(slug: string, urls: readonly string[]) {
  const parts = urls.map((url) => ({ type: 'image_url', image_url: { url } }));
  const links = urls.filter(isLink).map((url) => ({ label: url, url }));
  return {
    input_data: JSON.stringify([{ role: urls[0], content: parts }]),
    output_data: JSON.stringify([...urls.map((url) => ({ type: 'image', url })), { text: urls.join(' ') }]),
    attributes: { task: slug, attachments: [{ label: urls[0], base64: PNG }, ...links] },
  };
}

feedbackLinks((on) => {
  describe('lead nowhere else', () => {
    it('whatever URLs a span names', async function () {
      this.timeout(60_000);
      const { url: base, projectId } = on.server;
      const known = [
        `${base}/attachments/..//evil.example/x`,
        `${base}/attachments/../\\evil.example/x`,
        `${base}/attachments/%2e%2e//evil.example/x`,
        `${base}/attachments/${projectId}/../..//evil.example`,
      ];
      const drawn = fc.sample(hostileUrls(base), LINKS * SPANS_OF_A_LINK * URLS_PER_SPAN - known.length);
      const urls = [...known, ...drawn];
      for (let round = 0; round < LINKS; round += 1) {
        on.prompt = await LinkedPrompt.make(on.api);
        const first = round * SPANS_OF_A_LINK * URLS_PER_SPAN;
        await expectOwnTargets(urls.slice(first, first + SPANS_OF_A_LINK * URLS_PER_SPAN));
      }
    });

    async function expectOwnTargets(urls: readonly string[]): Promise<void> {
      const { url: base, projectId } = on.server;
      const urlsOf = (index: number) => urls.slice(index * URLS_PER_SPAN, (index + 1) * URLS_PER_SPAN);
      const spans = await on.prompt.complete(SPANS_OF_A_LINK, (index) => withUrls(on.prompt.slug, urlsOf(index)));
      const link = await on.prompt.link();
      const visitor = new Visitor(link.url);
      const ours = [new URL(link.url).pathname, '/feedback-page/', `/attachments/${projectId}/`];
      for (const [index, span] of spans.entries()) {
        const sent = JSON.stringify(urlsOf(index));
        const answered = await visitor.get(`?c=${span.id}&all=1`);
        expect([answered.status, shown(answered)]).to.deep.equal([200, span.id]);
        const targets = targetsIn(answered.text, link.url);
        expect(
          targets.filter(({ pathname }) => pathname.startsWith('/attachments/')),
          sent,
        ).to.have.length(2);
        for (const { origin, pathname } of targets) {
          expect(origin, sent).to.equal(base);
          expect(
            ours.some((path) => pathname.startsWith(path)),
            `${pathname} of ${sent}`,
          ).to.equal(true);
        }
      }
    }
  });
});
