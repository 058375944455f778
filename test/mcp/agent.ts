import type { Client } from '@modelcontextprotocol/sdk/client/index.js';

/** What a tool answered. */
export interface Answered {
  readonly text: string;
  readonly isError: boolean;
}

/** An agent without a model: it uses tools of a server as its author wrote down, and counts that. */
export class Agent {
  readonly #client: Client;
  calls = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  async use(name: string, given: Readonly<Record<string, unknown>> = {}): Promise<Answered> {
    this.calls += 1;
    const { content, isError } = await this.#client.callTool({ name, arguments: { ...given } });
    const [part] = content as { type: string; text: string }[];
    return { text: part?.text ?? '', isError: isError === true };
  }

  /** The rows or the object in what a tool answered. */
  async data(name: string, given: Readonly<Record<string, unknown>> = {}): Promise<any[]> {
    return rowsOf(await this.use(name, given));
  }
}

/** The recorded data in an answer. */
export function dataOf({ text }: Answered): string {
  return /<data-([0-9a-f]{16})>\n([^]*)\n<\/data-\1>$/.exec(text)?.[2] ?? '';
}

export function rowsOf(answer: Answered): any[] {
  if (answer.isError) throw new Error(answer.text);
  return dataOf(answer)
    .split('\n')
    .map((line) => JSON.parse(line));
}
