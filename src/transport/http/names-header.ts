/** Most names that a header holds, and the longest that one may be, in bytes: headers are small. */
const MAX_NAMES = 20;
const MAX_NAME = 100;

/** Names that clients chose, as the value of a header: percent-encoded, cut where they are long or many. */
export function namesHeader(names: Iterable<string>): string {
  const all = [...names];
  const shown = all.slice(0, MAX_NAMES).map((name) => {
    const encoded = encodeURIComponent(name.toWellFormed());
    return encoded.length > MAX_NAME ? `${encoded.slice(0, MAX_NAME)}...` : encoded;
  });
  return [...shown, ...(all.length > MAX_NAMES ? ['...'] : [])].join(', ');
}
