/** Why the demo cannot run, in words that say what to do. */
export class DemoError extends Error {}

/** The public API, as any client would call it. */
export class Api {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  }

  get(path: string): Promise<Response> {
    return fetch(`${this.#url}${path}`, { headers: this.#headers });
  }

  async list(path: string): Promise<{ items: unknown[]; total: number }> {
    const response = await this.get(path);
    if (!response.ok) throw new DemoError(`GET ${path} was answered ${response.status}: ${await response.text()}`);
    return { items: (await response.json()) as unknown[], total: Number(response.headers.get('X-Total-Count') ?? NaN) };
  }

  async postSpans(spans: readonly unknown[]): Promise<void> {
    const response = await fetch(`${this.#url}/spans`, {
      method: 'POST',
      headers: { ...this.#headers, prefer: 'return=minimal' },
      body: JSON.stringify(spans),
    });
    if (!response.ok) throw new DemoError(`The spans were refused with ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  }
}
