/** What is separated by commas, in lower case. */
export function listIn(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== '');
}
