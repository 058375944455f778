/** The rules that an answer names as broken, by the field they are of: the first part of their pointer. */
export function wrongFields(
  errors: readonly { readonly pointer: string; readonly detail: string }[] = [],
): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { pointer, detail } of errors) {
    const [, field = '', ...rest] = pointer.split('/');
    const text = rest.length === 0 ? detail : `${rest.join(', ')}: ${detail}`;
    found[field] = found[field] === undefined ? text : `${found[field]}; ${text}`;
  }
  return found;
}
