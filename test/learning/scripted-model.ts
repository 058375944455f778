import { ModelEndpoint, type Script } from '../judges/model-endpoint.js';

export interface Asked {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly response_format?: { readonly json_schema?: { readonly name?: string } };
}

/** What the endpoint says: a text of the model, or a status instead. */
export type Said = string | { readonly status: number; readonly headers?: Record<string, string> };

const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };

/** A model behind a real endpoint on loopback, which answers by what it is asked. */
export class ScriptedModel {
  readonly asked: Asked[] = [];
  /** Before each answer. */
  delayMs = 0;
  /** What each answer waits for, too. */
  after: Promise<unknown> = Promise.resolve();
  script: (asked: Asked) => Said;
  readonly #endpoint: ModelEndpoint;

  private constructor(endpoint: ModelEndpoint, script: (asked: Asked) => Said) {
    this.#endpoint = endpoint;
    this.script = script;
    endpoint.script = ({ body }) => this.#play(body as Asked);
  }

  static async start(script: (asked: Asked) => Said): Promise<ScriptedModel> {
    return new ScriptedModel(await ModelEndpoint.start(), script);
  }

  get url(): string {
    return this.#endpoint.url;
  }

  stop(): Promise<void> {
    return this.#endpoint.stop();
  }

  #play(asked: Asked): Script {
    this.asked.push(asked);
    const said = this.script(asked);
    const { delayMs, after } = this;
    if (typeof said === 'string') return { do: 'answer', content: said, delayMs, after, usage: USAGE };
    return { do: 'status', ...said };
  }
}

/** What stands between the tags of this name in a request for a verdict. */
export function shown({ messages }: Asked, name: string): string {
  const content = messages.at(-1)?.content ?? '';
  return new RegExp(`<${name}-([0-9a-f]+)>\\n([\\s\\S]*?)\\n</${name}-\\1>`).exec(content)?.[2] ?? '';
}

export interface ShownExample {
  readonly input: string | null;
  readonly output: string | null;
  readonly you_were: 'right' | 'wrong';
  readonly right: { readonly passed: boolean; readonly score?: number; readonly reason?: string };
}

/** The examples in a request for a verdict, the first first. */
export function examplesIn({ messages }: Asked): ShownExample[] {
  return messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => content.split('\n'))
    .filter((line) => line.startsWith('{"input"'))
    .map((line) => JSON.parse(line) as ShownExample);
}

export function verdict(passed: boolean, score?: number): string {
  return JSON.stringify({ reason: 'scripted', passed, score, confidence: 0.9 });
}
