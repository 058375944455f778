/** Values in one text, separated by commas; a comma of a value is written `%2C`, and `%2C` itself `%252C`. */
export function splitValues(text: string): string[] {
  return text
    .split(',')
    .map((value) => value.replace(/%(?:2C|25(?=(?:25)*2C))/gi, (code) => (/2C/i.test(code) ? ',' : '%')));
}

export function joinValues(values: readonly string[]): string {
  return values.map((value) => value.replace(/%(?=(?:25)*2C)/gi, '%25').replaceAll(',', '%2C')).join(',');
}
