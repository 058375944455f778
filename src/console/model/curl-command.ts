/** The command that calls a URL of the API in a terminal, where the line that the first start prints has set the key. */
export function curlCommand(url: string): string {
  return `curl -H "Authorization: Bearer $SPANHOUSE_KEY" '${url.replaceAll("'", '%27')}'`;
}
