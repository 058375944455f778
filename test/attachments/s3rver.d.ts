/** The part that the tests use; the package brings no types. */
declare module '@20minutes/s3rver' {
  import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http';
  import type { AddressInfo } from 'node:net';

  /** Koa's, of a request. */
  export interface S3Context {
    readonly app: object;
    readonly method: string;
    readonly path: string;
    readonly query: Readonly<Record<string, string | undefined>>;
    readonly headers: IncomingHttpHeaders & { readonly 'x-amz-content-sha256'?: string };
    readonly res: ServerResponse;
    /** Whether Koa answers it. */
    respond: boolean;
    status: number;
    type: string;
    length: number;
    body: unknown;
  }

  export default class S3rver {
    readonly httpServer: Server;
    readonly middleware: ((context: S3Context, next: () => Promise<void>) => Promise<void> | undefined)[];
    readonly store: { getMetadata(bucket: string, key: string): Promise<{ readonly etag: string }> };
    constructor(options: {
      readonly port: number;
      readonly address: string;
      readonly silent: boolean;
      readonly directory: string;
      readonly configureBuckets: readonly { readonly name: string }[];
    });
    run(): Promise<AddressInfo>;
    close(): Promise<void>;
  }
}
