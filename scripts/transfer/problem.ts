/** What a server says of a request that it refuses. */
export interface Problem {
  readonly status?: number;
  readonly detail?: string;
  /** What it says where it speaks as servers of others do. */
  readonly message?: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}
