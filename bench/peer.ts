/** A product that takes spans by OTLP, started for the bench. */
export interface Peer {
  readonly name: string;
  readonly version: string;
  /** Where OTLP requests are posted, and what is sent with them. */
  readonly otlp: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  readonly pid: number;
  /** Folder of all that it stores. */
  readonly folder: string;
  /** How many spans of a trace can be read. */
  spansOf(trace: string): Promise<number>;
  /** How many traces it counts; null: it has no such call. */
  tracesCounted(): Promise<number | null>;
  readonly reads: PeerReads;
  stop(): Promise<void>;
}

/** Reads, each by a call of the product's own interface. They answer how many objects they found; null: it has no such call. */
export interface PeerReads {
  /** The newest 50 traces. */
  readonly list: (() => Promise<number>) | null;
  /** The newest 50 with errors. */
  readonly errors: (() => Promise<number>) | null;
  /** The newest 50 that hold a text. */
  readonly text: ((text: string) => Promise<number>) | null;
  /** All spans of a trace, with all that they hold. */
  readonly whole: ((trace: string) => Promise<number>) | null;
}

export const PAGE = 50;
const TIMEOUT_MS = 280_000;

/** Answers the body of an answer. @throws Error when the answer is not 200 */
export async function json<T>(url: string | URL, init: RequestInit = {}): Promise<T> {
  const ask = () => fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  // Once more where the server had just closed the connection that was kept.
  const response = await ask().catch((error: unknown) =>
    isDisconnected(error) ? ask() : Promise.reject(error as Error),
  );
  const body = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${body.slice(0, 300)}`);
  return JSON.parse(body) as T;
}

/** Whether `fetch` failed because the other side closed the connection. */
export function isDisconnected(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: string } };
  return cause?.code === 'UND_ERR_SOCKET' || cause?.code === 'ECONNRESET';
}

/** What went wrong, with its cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

export function post(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** The id of a trace as OpenTelemetry writes it. */
export function hexId(uuid: string): string {
  return uuid.replaceAll('-', '');
}
