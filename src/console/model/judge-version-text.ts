/** `<id of the version>/e12` with the id cut, as `1a2b3c4d/e12`. */
export function shortVersion(version: string): string {
  const [id = '', examples = ''] = version.split('/');
  return `${id.slice(0, 8)}/${examples}`;
}
