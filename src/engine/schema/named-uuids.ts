import { hash } from 'node:crypto';

/** Bytes of a UUID, and of a name behind it for which there is room. */
const UUID_BYTES = 16;
const SHORT_NAME = 1_024;

/**
 * Makes UUIDs of names, version 5 of RFC 9562: one name, one UUID. The package for UUIDs takes several times as long, which tells
 * where each of a thousand scores of a request gets one.
 */
export function namedUuids(namespace: string): (name: string) => string {
  const hashed = Buffer.alloc(UUID_BYTES + SHORT_NAME);
  hashed.write(namespace.replaceAll('-', ''), 'hex');
  return (name) => {
    const bytes = Buffer.byteLength(name);
    if (bytes > SHORT_NAME)
      return versionFive(hash('sha1', Buffer.concat([hashed.subarray(0, UUID_BYTES), Buffer.from(name)]), 'hex'));
    hashed.write(name, UUID_BYTES);
    return versionFive(hash('sha1', hashed.subarray(0, UUID_BYTES + bytes), 'hex'));
  };
}

function versionFive(hex: string): string {
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
