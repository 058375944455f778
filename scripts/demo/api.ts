/** Why the demo cannot run, in words that say what to do. */
export class DemoError extends Error {}

/** The public API, as any client would call it. */
export class Api {
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, key: string) {
    this.url = url;
    this.#headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  }

  get(path: string): Promise<Response> {
    return fetch(`${this.url}${path}`, { headers: this.#headers });
  }

  async read<T>(path: string): Promise<T> {
    return (await (await accepted(`GET ${path}`, await this.get(path))).json()) as T;
  }

  async list(path: string): Promise<{ items: unknown[]; total: number }> {
    const response = await accepted(`GET ${path}`, await this.get(path));
    return { items: (await response.json()) as unknown[], total: Number(response.headers.get('X-Total-Count') ?? NaN) };
  }

  async send<T>(method: 'POST' | 'PUT' | 'PATCH', path: string, body: unknown): Promise<T> {
    const request = { method, headers: this.#headers, body: JSON.stringify(body) };
    return (await (await accepted(`${method} ${path}`, await fetch(`${this.url}${path}`, request))).json()) as T;
  }

  async postSpans(spans: readonly unknown[]): Promise<void> {
    const response = await fetch(`${this.url}/spans`, {
      method: 'POST',
      headers: { ...this.#headers, prefer: 'return=minimal' },
      body: JSON.stringify(spans),
    });
    if (!response.ok)
      throw new DemoError(`The server rejected the spans with ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  }

  /** What a reviewer without an account sends, who has the link alone. */
  async postReview(token: string, review: object): Promise<void> {
    const response = await fetch(`${this.url}/f/${token}/feedback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(review),
    });
    await (await accepted('POST /f/…/feedback', response)).arrayBuffer();
  }
}

async function accepted(call: string, response: Response): Promise<Response> {
  if (response.ok) return response;
  throw new DemoError(`${call} failed with ${response.status}: ${await response.text()}`);
}
