import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Type, type Static, type TObject, type TSchema } from '@sinclair/typebox';
import type { DomainErrorKind } from '../engine/errors.js';
import type { Principal } from '../engine/identity/identity.js';
import type { Scope } from '../engine/identity/scopes.js';
import type { DeepReadonly } from '../engine/schema/parts.js';
import { idWriter, unknownNamer } from '../engine/validation/body-parts.js';
import { closed } from '../engine/validation/closed.js';
import type { UnknownNames } from '../engine/validation/unknown-names.js';
import { assertValid, compile, compileClosed } from '../engine/validation/validation.js';
import type { ProblemDetails } from './errors.js';
import { parseAndFree } from './wire/json.js';
import type { QueryDefinition } from './query.js';
import type { Tag } from './route-scopes.js';

/**
 * `key`: an API key is needed, or the cookie of a person who signed in, and a `:project_id` in the path must be the key's.
 * `public`: none of it, and query parameters that the route does not know are ignored, as whatever leads people there adds
 * its own.
 */
export type Access = 'key' | 'public';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The log of one request: its lines carry the request id. */
export interface RequestLog {
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface RequestContext<P, Q, B, A extends Access = 'key'> {
  /** Null on a public route. */
  readonly principal: A extends 'key' ? Principal : null;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Takes names of a lenient body that the call does not know, for the answer. */
  readonly unknown: UnknownNames;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  /** The other end of the connection: the client, or the last proxy before us. Empty when it is gone already. */
  readonly remoteAddress: string;
  /** Aborted when the client goes away before it has the answer. */
  readonly signal: AbortSignal;
  /** Whether the request would still be let in, for answers that continue: its key may be revoked meanwhile. */
  readonly isAdmitted: () => boolean;
  readonly log: RequestLog;
}

interface WithHeaders {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer without a body, or one that was serialized already. */
export type SerializedResult =
  | (WithHeaders & {
      readonly json: string | Buffer;
      /** Whether the bytes are of this answer alone. */
      readonly once?: boolean;
    })
  | (WithHeaders & { readonly content: string | Buffer; readonly contentType: string })
  | (WithHeaders & {
      readonly stream: Readable;
      readonly contentType: string;
      /** Whether it continues for as long as the client likes: then what is measured ends with its beginning. */
      readonly lasting?: boolean;
    })
  | (WithHeaders & { readonly status: 204 | 304 });

/** A handler's answer as it is sent: `body` is serialized then. */
export type HandlerResult = (WithHeaders & { readonly body: unknown }) | SerializedResult;

/** The part of a request that is known before its body is read. */
export type Opening<P> = Pick<RequestContext<P, unknown, unknown>, 'params' | 'headers' | 'remoteAddress'>;

/** @typeParam Sent what clients send as JSON; unknown where it is none */
export interface BodyDefinition<B, Sent = unknown> {
  /** Only its type counts. */
  readonly sent?: Sent;
  /** Where a route takes less than the server's limit. */
  readonly maxBytes?: number;
  /** Accepted media types; another is 415. */
  readonly contentTypes: readonly string[];
  readonly schema: TSchema;
  /**
   * Whether names that the call does not know, also of query parameters, are named in a header of the answer instead of
   * refused: so in the contract, whose clients in the field send names that no one documented.
   */
  readonly lenient?: boolean;
  /** @param unknown takes unknown names of a lenient body */
  decode(bytes: Buffer, mediaType: string, unknown: UnknownNames): B;
}

export interface ResponseDefinition {
  readonly description: string;
  /** Absent: no content. */
  readonly schema?: TSchema;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Headers that it may have beside those of every answer: name → description. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type Responses = Readonly<Record<number, ResponseDefinition>>;

/** What has the type of the response schema of its status. */
type Described<R extends Responses> = {
  [S in keyof R & number]: R[S] extends { readonly schema: infer Schema extends TSchema }
    ? WithHeaders & { readonly status: S; readonly body: DeepReadonly<Static<Schema>> }
    : never;
}[keyof R & number];

/** A handler's answer: a body has the type of its status's schema. */
export type ResultOf<R extends Responses> = Described<R> | SerializedResult;

/** How a route writes errors when not as problem+json, which is what undefined stands for. The status stays what it is. */
export type ErrorRenderer = (
  problem: ProblemDetails,
  request: IncomingMessage,
) =>
  | {
      readonly contentType: string;
      readonly content: string | Buffer;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | undefined;

/** What clients say to a route, as types. */
interface Wire<M extends Method = Method, Path extends string = string, Query = unknown, Body = unknown> {
  readonly method: M;
  readonly path: Path;
  readonly query: Query;
  readonly body: Body;
}

export interface RouteDefinition<P extends TObject, Q, B, A extends Access, R extends Responses = Responses> {
  readonly method: Method;
  /** `/spans/:span_id`; a parameter may have a literal suffix: `/tags/:tag:pin`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: Tag;
  readonly access: A;
  /** Scopes that the key needs, all of them; empty: any key. Default: to read (GET) or to write what the tag is about. */
  readonly scopes?: readonly Scope[];
  /** A person who signed in to several projects need not say which; it is the first then. */
  readonly anyProject?: boolean;
  /** Whether `{project_id}`, as it stands in the documentation, means the key's project: a client in the field sends that. */
  readonly takesPlaceholder?: boolean;
  readonly params?: P;
  readonly query?: QueryDefinition<Q>;
  readonly body?: BodyDefinition<B>;
  /** By status. */
  readonly responses: R;
  /** Beyond those every route can answer (access, body, overload, defect). */
  readonly errors: readonly DomainErrorKind[];
  readonly renderError?: ErrorRenderer;
  /** Throws for a request that is not to be served; asked before its body is read. */
  admit?(opening: Opening<Static<P>>): void | Promise<void>;
  /**
   * Its answers may be large: of one project, only so many are in progress at once. `gathered`: they are put together in memory, of
   * which few are at once.
   */
  readonly bulk?: true | 'gathered';
  /** It makes way for calls of clients, and counts as none. */
  readonly makesWay?: boolean;
  /** Not part of the documented interface (the documentation's own files). */
  readonly hidden?: boolean;
  handle(context: RequestContext<Static<P>, Q, B, A>): ResultOf<NoInfer<R>> | Promise<ResultOf<NoInfer<R>>>;
}

/** A route as the router and the documentation see it. */
export type Route = Omit<RouteDefinition<TObject, unknown, unknown, Access>, 'handle' | 'admit'> & {
  admit?(opening: Opening<unknown>): void | Promise<void>;
  handle(context: RequestContext<unknown, unknown, unknown, Access>): HandlerResult | Promise<HandlerResult>;
};

/** A route whose type says what clients send and get, for those that are derived from it. */
export type DefinedRoute<P extends TObject, R extends Responses, W extends Wire> = Route &
  Pick<W, 'method' | 'path'> & {
    /** Only its type counts. */
    readonly wire?: W & { readonly params: Static<P>; readonly responses: R };
  };

/** Describes one endpoint, once: the router, the validation and the OpenAPI document come from it. */
export function defineRoute<
  R extends Responses,
  const M extends Method,
  const Path extends string,
  P extends TObject = TObject,
  Q = undefined,
  B = undefined,
  A extends Access = 'key',
  SentQuery = undefined,
  SentBody = undefined,
>(
  definition: RouteDefinition<P, Q, B, A, R> & {
    readonly method: M;
    readonly path: Path;
    readonly query?: QueryDefinition<Q, SentQuery>;
    readonly body?: BodyDefinition<B, SentBody>;
  },
): DefinedRoute<P, NoInfer<R>, Wire<M, Path, SentQuery, SentBody>> {
  return definition;
}

/** The answer of a route that lists. */
export function listOf<S extends TSchema>(schema: S, description: string) {
  return { description, schema: Type.Array(schema, { description }) } satisfies ResponseDefinition;
}

const JSON_TYPES = ['application/json'];

interface JsonBodyOptions {
  /** See {@link BodyDefinition}. */
  readonly lenient?: boolean;
  /** How deep the JSON may be nested; default: {@link MAX_JSON_DEPTH}. */
  readonly maxDepth?: number;
}

/** A JSON body. Names that its schema does not describe are refused at any depth, unless it is lenient. */
export function jsonBody<S extends TSchema>(
  schema: S,
  options: JsonBodyOptions = {},
): BodyDefinition<Static<S>, Static<S>> {
  const validator = options.lenient === true ? compile(schema) : compileClosed(schema);
  const unchecked = uncheckedJsonBody<S>(schema, options);
  return { ...unchecked, decode: (...sent) => assertValid(validator, unchecked.decode(...sent)) };
}

/** A JSON body that a service checks against the schema, together with rules that no schema can say. */
export function uncheckedJsonBody<S extends TSchema>(
  schema: S,
  { lenient = false, maxDepth }: JsonBodyOptions = {},
): BodyDefinition<unknown, Static<S>> {
  const writeIds = idWriter(schema);
  const nameUnknown = lenient ? unknownNamer(schema) : null;
  return {
    contentTypes: JSON_TYPES,
    schema: lenient ? schema : closed(schema),
    lenient,
    decode(bytes, _mediaType, unknown) {
      const body = writeIds(parseAndFree(bytes, maxDepth));
      nameUnknown?.(body, unknown);
      return body;
    },
  };
}

/** A lenient JSON array whose elements a service reads one by one, their ids and unknown names too: they may be many. */
export function jsonElements(element: TSchema, description: string): BodyDefinition<unknown> {
  return {
    contentTypes: JSON_TYPES,
    schema: Type.Array(element, { description }),
    lenient: true,
    decode: (bytes) => parseAndFree(bytes),
  };
}

/** As {@link jsonElements}, but parsed by the handler, too, wherever it likes. */
export function jsonBytes(element: TSchema, description: string): BodyDefinition<Buffer> {
  return { ...jsonElements(element, description), decode: (bytes) => bytes };
}

/** A lenient body that the handler decodes itself, such as protobuf: its bytes (decompressed) and media type. */
export function rawBody(contentTypes: readonly string[], description: string): BodyDefinition<RawBody> {
  return {
    contentTypes,
    schema: Type.String({ format: 'binary', description }),
    lenient: true,
    decode: (bytes, mediaType) => ({ bytes, mediaType }),
  };
}

export interface RawBody {
  readonly bytes: Buffer;
  /** Lower case, without parameters. */
  readonly mediaType: string;
}
