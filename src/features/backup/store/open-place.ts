import { resolve } from 'node:path';
import { DomainError } from '../../../engine/errors.js';
import type { S3Access } from '../../../engine/files/s3-client.js';
import { FolderPlace } from './folder-place.js';
import type { BackupPlace, PlaceAddress } from './place.js';

const BUCKET = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/;

const MAX_PREFIX = 512;

/**
 * What an address names: a folder, or a bucket as `s3://bucket/prefix`.
 * @throws DomainError `invalid` for any other URL, which would become a folder of that name
 */
export function addressOf(given: string): PlaceAddress {
  if (!/^[a-z0-9+.-]+:\/\//i.test(given)) return { kind: 'folder', path: resolve(given) };
  const [, bucket, path = ''] = BUCKET.exec(given) ?? [];
  const prefix = path.replace(/\/+$/, '');
  const parts = prefix === '' ? [] : prefix.split('/');
  if (
    bucket === undefined ||
    prefix.length > MAX_PREFIX ||
    !parts.every((part) => /^[A-Za-z0-9!_.*'()-]+$/.test(part) && !/^\.+$/.test(part))
  )
    throw new DomainError(
      'invalid',
      `${given} is not a valid backup location: use a folder, or a bucket as s3://bucket/prefix, with a prefix of letters, ` +
        'digits and - _ . between slashes',
    );
  return { kind: 'bucket', bucket, prefix };
}

/** Opens what an address names. The S3 client is imported only here. @throws DomainError `invalid` */
export async function openPlace(given: string, access: S3Access): Promise<BackupPlace> {
  const address = addressOf(given);
  if (address.kind === 'folder') return new FolderPlace(address.path);
  const { BucketPlace } = await import('./bucket-place.js');
  return new BucketPlace(address, access);
}
