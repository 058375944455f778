import { expect } from 'chai';
import { Programs } from '../harness/programs.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { promptApi, sha256 } from './prompt-api.js';

interface Answer {
  readonly slug: string;
  readonly content: string;
  readonly id: string;
  readonly version: number;
}

/** 100 ensures over 20 prompts: of every prompt two contents, each asked for two or three times at once. */
const requests = Array.from({ length: 100 }, (_, index) => ({
  slug: `concurrent-${index % 20}`,
  content: `content ${Math.floor(index / 20) % 2} of ${index % 20}`,
}));

/** What must hold however the ensures interleaved: one version per content, numbers without gaps, answers that agree. */
async function expectConsistent(
  api: ReturnType<typeof promptApi>,
  answers: readonly Answer[],
  contents: number | null,
) {
  for (const slug of new Set(requests.map((request) => request.slug))) {
    const read = await api.versions(slug);
    if (read.status === 404) {
      expect(answers.filter((answer) => answer.slug === slug)).to.deep.equal([]);
      continue;
    }
    const versions: { id: string; version: number; content: string; content_hash: string }[] = read.json;
    expect(versions.map(({ version }) => version)).to.deep.equal(versions.map((_, index) => index + 1));
    expect(new Set(versions.map(({ content }) => content)).size).to.equal(versions.length);
    if (contents !== null) expect(versions).to.have.length(contents);
    for (const { content, content_hash } of versions) expect(content_hash).to.equal(sha256(content));
    for (const { content, id, version } of answers.filter((answer) => answer.slug === slug)) {
      expect(versions.find((stored) => stored.id === id)).to.include({ content, version });
    }
  }
}

describe('ensuring prompt versions', () => {
  describe('by many at once', () => {
    let server: TestServer;
    before(async () => {
      server = await sharedServer();
    });
    after(() => server.dispose());

    it('makes one version per content, without gaps, and answers all alike', async () => {
      const api = promptApi(server);
      const answers = await Promise.all(
        requests.map(async ({ slug, content }) => {
          const { status, json } = await api.ensure(slug, { content });
          expect(status).to.equal(200);
          return { slug, content, id: json.id as string, version: json.version as number };
        }),
      );
      await expectConsistent(api, answers, 2);
    });
  });

  describe('by many at once when the program is killed', () => {
    let programs: Programs;
    before(async () => {
      programs = await Programs.make();
    });
    after(() => programs.dispose());

    async function start() {
      const program = await programs.start();
      return { program, api: promptApi(program) };
    }

    it('keeps what was answered, leaves no gap, and takes the rest afterwards', async () => {
      const first = await start();
      const answers: Answer[] = [];
      let failed = 0;
      const work = requests.map(async ({ slug, content }) => {
        try {
          const { status, json } = await first.api.ensure(slug, { content });
          if (status !== 200) throw new Error(String(status));
          answers.push({ slug, content, id: json.id, version: json.version });
        } catch {
          failed += 1;
        }
        if (answers.length === 30) first.program.signal('SIGKILL');
      });
      await Promise.all(work);
      await first.program.ended;
      expect(answers.length).to.be.at.least(30);
      expect(failed, 'the kill came in the middle').to.be.greaterThan(0);

      const second = await start();
      await expectConsistent(second.api, answers, null);
      for (const { slug, content } of requests) {
        const { json } = await second.api.ensure(slug, { content });
        answers.push({ slug, content, id: json.id, version: json.version });
      }
      await expectConsistent(second.api, answers, 2);
      second.program.signal('SIGTERM');
      await second.program.ended;
    }).timeout(60_000);
  });
});
