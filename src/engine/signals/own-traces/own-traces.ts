import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Link,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import type {
  RequestObserver,
  CallerHeaders,
  OpenTracing,
  StatementFailure,
  TracedStatement,
  TracePoint,
} from '../tracing.js';
import { isOwnExport } from './own-export.js';

/** Spans below one request: a request may run statements without end, as one that tails a list does. */
const MAX_SPANS = 1000;
/** Commits that one round is linked to. */
const MAX_COMMITS = 32;
/** Asked every few seconds by machines, and of interest when they fail. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
/** The methods that conventions name; any other is `_OTHER`, so that no one makes names. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const CLIENT_CLOSED_REQUEST = 499;

/** A span, and what its whole trace may still have. */
class Point implements TracePoint {
  readonly span: Span;
  readonly budget: { left: number };

  constructor(span: Span, budget: { left: number }) {
    this.span = span;
    this.budget = budget;
  }

  get traceId(): string {
    return this.span.spanContext().traceId;
  }

  /** Whether more may be made part of it. */
  get open(): boolean {
    return this.span.isRecording() && this.budget.left > 0;
  }

  /** The context in which its children begin. */
  get context(): Context {
    return trace.setSpan(ROOT_CONTEXT, this.span);
  }

  get link(): Link {
    return { context: this.span.spanContext() };
  }
}

/** Sends ended spans. */
export interface SpanSender {
  readonly tracer: Tracer;
  flush(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Spans of requests, and of the commits, rounds and statements that come of them. Work that is done for several at once
 * belongs to the first that is traced, and links to the others. What nothing traced has caused is not traced, so that
 * storing the server's own traces in itself makes no further ones.
 *
 * It keeps to itself where work is done (`#current`) instead of to OpenTelemetry's global state: a process may have
 * several servers, and libraries in it that trace for themselves.
 */
export class OwnTraces implements OpenTracing {
  readonly #sender: SpanSender;
  readonly #current = new AsyncLocalStorage<Point | undefined>();
  /** Traced commits that no flush has followed yet. */
  #unflushed: Point[] = [];
  /** Traced commits that no round has followed yet. */
  #commits: Point[] = [];

  constructor(sender: SpanSender) {
    this.#sender = sender;
  }

  request(
    request: CallerHeaders & { readonly method: string },
    observer: RequestObserver,
    answer: (observer: RequestObserver) => void,
  ): void {
    const method = METHODS.has(request.method) ? request.method : '_OTHER';
    const point = this.#root(request, method, { 'http.request.method': method, 'url.scheme': 'http' });
    this.#current.run(point, () => answer(point === undefined ? observer : following(point, method, observer)));
  }

  async call<T>(
    call: CallerHeaders & { readonly path: string },
    codeOf: (error: unknown) => string,
    work: () => Promise<T>,
  ): Promise<T> {
    const method = call.path.slice(1);
    const point = this.#root(call, method, { 'rpc.system.name': 'grpc', 'rpc.method': method });
    const ended = (code: string, failed: boolean) => {
      point?.span.setAttribute('rpc.response.status_code', code);
      end(point?.span, failed ? code : undefined);
    };
    return this.#current.run(point, async () => {
      try {
        const result = await work();
        ended('OK', false);
        return result;
      } catch (error) {
        ended(codeOf(error), true);
        throw error;
      }
    });
  }

  statement(describe: () => TracedStatement): ((failure?: StatementFailure) => void) | undefined {
    const point = this.#here();
    if (point === undefined) return undefined;
    const { operation, tables } = describe();
    const summary = [operation, ...tables].join(' ');
    const { span } = this.#child(point, summary, SpanKind.CLIENT, {
      'db.system.name': 'clickhouse',
      'db.operation.name': operation,
      'db.query.summary': summary,
      ...(tables.length === 1 && { 'db.collection.name': tables[0] }),
    });
    return (failure) => {
      const code = failure?.code?.toString();
      if (code !== undefined) span.setAttribute('db.response.status_code', code);
      end(span, failure && (code ?? typeOf(failure.error)));
    };
  }

  here(): TracePoint | undefined {
    return this.#here();
  }

  async commit<T>(
    requests: readonly (TracePoint | undefined)[],
    { rows, bytes }: { readonly rows: number; readonly bytes: number },
    work: () => Promise<T>,
  ): Promise<T> {
    const traced = requests.filter((point): point is Point => point instanceof Point && point.open);
    const attributes = {
      'spanhouse.commit.requests': requests.length,
      'spanhouse.commit.rows': rows,
      'spanhouse.commit.bytes': bytes,
    };
    const [first, ...others] = traced;
    if (first === undefined) return this.#current.run(undefined, work);
    const links = others.slice(0, MAX_COMMITS).map(({ link }) => link);
    const point = this.#child(first, 'commit', SpanKind.INTERNAL, attributes, links);
    // Each request's own trace says how long it took, and where its statements are.
    const spans = others.map((each) => this.#child(each, 'commit', SpanKind.INTERNAL, attributes, [point.link]).span);
    const result = await this.#within(point, spans, work);
    if (this.#unflushed.length < MAX_COMMITS) this.#unflushed.push(point);
    if (this.#commits.length < MAX_COMMITS) this.#commits.push(point);
    return result;
  }

  async store<T>(
    { rows, bytes }: { readonly rows: number; readonly bytes: number },
    work: () => Promise<T>,
  ): Promise<T> {
    const [first, ...others] = this.#unflushed.splice(0);
    if (first === undefined) return this.#current.run(undefined, work);
    const attributes = { 'spanhouse.flush.rows': rows, 'spanhouse.flush.bytes': bytes };
    const links = others.map(({ link }) => link);
    return this.#within(this.#child(first, 'flush', SpanKind.INTERNAL, attributes, links), [], work);
  }

  async round<T>(
    { traces, sessions }: { readonly traces: number; readonly sessions: number },
    work: () => Promise<T>,
  ): Promise<T> {
    const [first, ...others] = this.#commits;
    this.#commits = [];
    if (first === undefined) return this.#current.run(undefined, work);
    const attributes = { 'spanhouse.round.traces': traces, 'spanhouse.round.sessions': sessions };
    const links = others.map(({ link }) => link);
    return this.#within(this.#child(first, 'rollup round', SpanKind.INTERNAL, attributes, links), [], work);
  }

  flush(): Promise<void> {
    return this.#sender.flush();
  }

  close(): Promise<void> {
    return this.#sender.close();
  }

  #here(): Point | undefined {
    const point = this.#current.getStore();
    return point?.open === true ? point : undefined;
  }

  /**
   * The span of a call from outside: always the first of a trace of ours. What the caller says of its own is a link, as
   * neither its ids nor its wish to be recorded are to be trusted.
   * @returns undefined: it is not recorded
   */
  #root({ userAgent, traceparent }: CallerHeaders, name: string, attributes: Attributes): Point | undefined {
    if (isOwnExport(userAgent)) return undefined;
    const caller = traceparent === undefined ? null : parseTraceParent(traceparent);
    const links = caller === null ? [] : [{ context: { ...caller, isRemote: true } }];
    const span = this.#sender.tracer.startSpan(name, { kind: SpanKind.SERVER, attributes, links }, ROOT_CONTEXT);
    return span.isRecording() ? new Point(span, { left: MAX_SPANS }) : undefined;
  }

  #child({ context, budget }: Point, name: string, kind: SpanKind, attributes: Attributes, links: Link[] = []): Point {
    budget.left -= 1;
    return new Point(this.#sender.tracer.startSpan(name, { kind, attributes, links }, context), budget);
  }

  /** Runs work within a span. @param along spans that end with it */
  #within<T>(point: Point, along: readonly Span[], work: () => Promise<T>): Promise<T> {
    const ended = (type?: string) => {
      for (const span of [point.span, ...along]) end(span, type);
    };
    return this.#current.run(point, async () => {
      try {
        const result = await work();
        ended();
        return result;
      } catch (error) {
        ended(typeOf(error));
        throw error;
      }
    });
  }
}

/** An observer that ends the span of its request. */
function following({ span, traceId }: Point, method: string, observer: RequestObserver): RequestObserver {
  const began = (route: string, status: number) => {
    span.setAttribute('http.response.status_code', status);
    if (route === 'unmatched') return;
    span.setAttribute('http.route', route);
    span.updateName(`${method} ${route}`);
  };
  return {
    requestFinished(request) {
      const { route, status } = request;
      // One that is not ended is not sent.
      if (span.isRecording() && (status >= 500 || !PROBES.has(route))) {
        began(route, status);
        end(span, status >= 500 || status === CLIENT_CLOSED_REQUEST ? String(status) : undefined);
      }
      observer.requestFinished({ ...request, traceId });
    },
    answerGoesOn({ route, status }) {
      began(route, status);
      span.end();
    },
    requestFailed: (failure) => observer.requestFailed(failure),
    answerCutOff: (answer) => observer.answerCutOff(answer),
  };
}

/** Ends a span. @param type of the failure, in a word; undefined: there was none */
function end(span: Span | undefined, type?: string): void {
  if (type !== undefined) span?.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
  span?.end();
}

/** The type of an error; its message may hold what a client wrote. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  return 'kind' in error && typeof error.kind === 'string' ? error.kind : error.name;
}
