/**
 * Frees the memory of bytes that no one needs anymore, where it holds nothing else: under load, they come faster than garbage
 * is collected, and collecting it only because of them costs the more, the less other garbage there is.
 */
export function free({ buffer, byteLength }: Uint8Array): void {
  // A small buffer shares its memory with others.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
