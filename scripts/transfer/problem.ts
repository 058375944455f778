/** What a server says of a request that it refuses. */
export interface Problem {
  readonly status?: number;
  readonly detail?: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}
