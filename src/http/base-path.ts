/** The path before every path of this server, as browsers have to ask for it: empty, or `/tools` behind a proxy that serves it there. */
export function basePath(publicUrl: string): string {
  return new URL(publicUrl).pathname.replace(/\/$/, '');
}
