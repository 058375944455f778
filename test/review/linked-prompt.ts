import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { send, type TestResponse, type TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { completion, feedbackApi } from '../feedback/feedback-api.js';

/** What a browser keeps of a page's answers. */
export class Visitor {
  readonly #url: string;
  cookie = '';

  constructor(url: string) {
    this.#url = url;
  }

  async #send(method: string, url: string, request: Parameters<typeof send>[2]): Promise<TestResponse> {
    const response = await send(url, method, {
      ...request,
      key: null,
      headers: { ...(this.cookie === '' ? {} : { cookie: this.cookie }), ...request.headers },
    });
    this.cookie = response.headers.get('set-cookie')?.split(';')[0] ?? this.cookie;
    return response;
  }

  get(query = '', headers: Record<string, string> = {}): Promise<TestResponse> {
    return this.#send('GET', this.#url + query, { headers });
  }

  post(fields: Record<string, string>, headers: Record<string, string> = {}): Promise<TestResponse> {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.#send('POST', `${this.#url}/feedback`, {
      body: new URLSearchParams(fields).toString(),
      headers: { ...form, ...headers },
    });
  }

  postJson(body: unknown, headers: Record<string, string> = {}): Promise<TestResponse> {
    return this.#send('POST', `${this.#url}/feedback`, { body, headers });
  }
}

/** A prompt of its own, with completions and links to review them. */
export class LinkedPrompt {
  readonly slug = `prompt-${randomUUID()}`;
  readonly #api: ReturnType<typeof feedbackApi>;

  private constructor(api: ReturnType<typeof feedbackApi>) {
    this.#api = api;
  }

  static async make(api: ReturnType<typeof feedbackApi>): Promise<LinkedPrompt> {
    const prompt = new LinkedPrompt(api);
    await api.ensure(prompt.slug);
    return prompt;
  }

  async link(more: Record<string, unknown> = {}) {
    const { json, status } = await this.#api.link({ prompt_slug: this.slug, link_type: 'prompt_completion', ...more });
    expect(status).to.equal(200);
    return json as { id: string; url: string; created_at: string; expires_at: string };
  }

  /** Completions with rising times: the last is the newest. */
  async complete(count: number, more: (index: number) => Record<string, unknown> = () => ({})) {
    const spans = Array.from({ length: count }, (_, index) =>
      completion(this.slug, {
        started_at: new Date(Date.UTC(2026, 2, 1) + index * 1000).toISOString(),
        output_data: `Output ${index} of ${this.slug}`,
        ...more(index),
      }),
    );
    const { status, text } = await this.#api.spans(spans);
    expect(status, text).to.be.within(200, 204);
    return spans;
  }
}

/** The completion that a page shows. */
export const shown = (page: TestResponse) => /name="completion_id" value="([0-9a-f-]{36})"/.exec(page.text)?.[1];
export const formValue = (page: TestResponse) => /name="form" value="([^"]+)"/.exec(page.text)?.[1] ?? '';

/** What the tests of feedback links run on; set once they run. */
class LinkTests {
  server!: TestServer;
  api!: ReturnType<typeof feedbackApi>;
  prompt!: LinkedPrompt;
}

/**
 * Declares tests of feedback links, each with a prompt of its own.
 * @param boot the server; default: a project of a shared one
 */
export function feedbackLinks(declare: (on: LinkTests) => void, boot: () => Promise<TestServer> = sharedServer): void {
  describe('feedback links', () => {
    const on = new LinkTests();

    before(async () => {
      on.server = await boot();
      on.api = feedbackApi(on.server);
    });
    after(() => on.server.dispose());
    beforeEach(async () => {
      on.prompt = await LinkedPrompt.make(on.api);
    });

    declare(on);
  });
}
