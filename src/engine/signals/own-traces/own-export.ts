/**
 * How requests with traces of a Spanhouse server name themselves. None of them is traced, whatever server they reach:
 * itself, through any proxy, or another that sends its traces back.
 */
export const OWN_EXPORT = 'spanhouse-own-traces';

export function isOwnExport(userAgent: string | undefined): boolean {
  return userAgent?.startsWith(`${OWN_EXPORT} `) === true;
}

/** What becomes of the spans by which the server traces itself. */
export interface OwnTracesObserver {
  ownSpansSent(batch: { readonly count: number }): void;
  /** The endpoint did not take them; they are gone. */
  ownSpansFailed(batch: { readonly count: number; readonly reason: string }): void;
  /** More arose than could be sent. */
  ownSpansDropped(dropped: { readonly count: number }): void;
}
