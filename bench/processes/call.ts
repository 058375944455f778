import { request, type Agent } from 'node:http';

/** One request over HTTP, as every load generator sends it. */
export interface Call {
  readonly agent: Agent;
  readonly target: URL;
  readonly key: string;
  /** With a body it is a POST, without one a GET. */
  readonly body?: Buffer;
  /** Content type of the body. Default: JSON. */
  readonly contentType?: string;
  /** Reads the answer no faster than this. Default: as fast as it comes. */
  readonly bytesPerSecond?: number;
  /** When the whole answer must be there; beyond it, the call is given up. Default: never. */
  readonly timeoutMs?: number;
  /** Told the length of each piece of the answer's body. */
  readonly onBytes?: (bytes: number) => void;
  /** Whether the body of an answer with 200 is answered, too. Default: false. */
  readonly keepBody?: boolean;
}

export interface Answer {
  readonly status: number;
  /** The body when the status is not 200, else empty. */
  readonly problem: string;
  /** Empty unless it was to be kept. */
  readonly body: Buffer;
}

/** Sends a request and reads the answer to its end. @throws Error when the connection ends before, or the time is up */
export function call(sent: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { agent, target, body, timeoutMs, bytesPerSecond, onBytes, keepBody = false } = sent;
    const signal = timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(timeoutMs) };
    const method = body === undefined ? 'GET' : 'POST';
    const sending = request(target, { method, agent, headers: headersOf(sent), ...signal }, (response) => {
      const status = response.statusCode ?? 0;
      let problem = '';
      const kept: Buffer[] = [];
      response.on('data', (chunk: Buffer) => {
        onBytes?.(chunk.length);
        if (status !== 200) problem += chunk.toString();
        else if (keepBody) kept.push(chunk);
        if (bytesPerSecond === undefined) return;
        response.pause();
        setTimeout(() => response.resume(), (chunk.length / bytesPerSecond) * 1000);
      });
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status, problem, body: Buffer.concat(kept) });
      });
    });
    sending.on('error', reject);
    sending.end(body);
  });
}

function headersOf({ key, body, contentType = 'application/json' }: Call): Record<string, string | number> {
  const authorization = `Bearer ${key}`;
  return body === undefined
    ? { authorization }
    : { authorization, 'content-type': contentType, 'content-length': body.length };
}
