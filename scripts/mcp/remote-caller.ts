import { MAX_ANSWER_BYTES, targetOf } from '../../src/http/api-calls.js';
import { ToolError, type ApiAnswer, type ApiCaller } from '../../src/mcp/run-tool.js';

const REQUEST_MS = 120_000;

/** Calls of a server's API over HTTP. @param url without a slash at its end */
export function remoteCaller(url: string, key: string): ApiCaller {
  return {
    async call(call, asked, body): Promise<ApiAnswer> {
      const response = await answerOf(url, () =>
        fetch(url + targetOf(call, asked), {
          method: call.method,
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          redirect: 'manual',
          signal: AbortSignal.timeout(REQUEST_MS),
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      );
      const text = await answerOf(url, () => textOf(response));
      if (response.ok) return { text, headers: Object.fromEntries(response.headers) };
      return { problem: problemIn(text, response.status) };
    },
  };
}

/** @throws ToolError where there is no answer */
async function answerOf<T>(url: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ToolError) throw error;
    const { cause, message } = error as Error & { cause?: { code?: string } };
    throw new ToolError(`${url} does not answer (${cause?.code ?? message}): start the server, or set SPANHOUSE_URL.`);
  }
}

async function textOf({ body }: Response): Promise<string> {
  let text = '';
  if (body === null) return text;
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.length > MAX_ANSWER_BYTES) throw new ToolError('The answer is too large: ask for fewer rows or fields.');
  }
  return text;
}

function problemIn(text: string, status: number): Extract<ApiAnswer, { readonly problem: unknown }>['problem'] {
  try {
    const problem = JSON.parse(text) as { readonly detail?: unknown };
    if (typeof problem.detail === 'string') return { ...problem, detail: problem.detail, status };
  } catch {
    // No Spanhouse answered.
  }
  return {
    status,
    detail: `The server answered ${status} with something else than JSON: set SPANHOUSE_URL to the server itself`,
  };
}
