/** The code in a URL that signs in, or in its fragment alone; null: there is none. Pasted URLs may have white space in them. */
export function codeOf(link: string): string | null {
  return /#code=([\w-]+)$/.exec(link.replace(/\s/g, ''))?.[1] ?? null;
}
