import { DomainError, type DomainErrorKind } from '../../../engine/errors.js';

/** What an error of the AWS SDK has, if it has it. */
interface S3Failure extends Error {
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const RIGHTS =
  'the key needs s3:ListBucket, s3:ListBucketMultipartUploads, s3:GetObject, s3:PutObject, s3:DeleteObject and ' +
  's3:AbortMultipartUpload';
const FULL = new Set(['XMinioStorageFull', 'QuotaExceeded', 'InsufficientStorage', 'StorageQuotaExceeded']);
const ELSEWHERE = new Set(['PermanentRedirect', 'AuthorizationHeaderMalformed', 'IllegalLocationConstraintException']);

/** The status of an answer other than the one that was wanted; undefined: there was none. */
export function statusOf(error: unknown): number | undefined {
  return (error as S3Failure).$metadata?.httpStatusCode;
}

/** What went wrong with a bucket, and what to do about it, in words that name no secret. */
export function bucketFailure(error: unknown, address: string, bucket: string): DomainError {
  if (error instanceof DomainError) return error;
  const [kind, text] = said(error as S3Failure, address, bucket);
  return new DomainError(kind, text, { cause: error });
}

function said(error: S3Failure, address: string, bucket: string): [DomainErrorKind, string] {
  const status = statusOf(error);
  const { name } = error;
  if (name === 'CredentialsProviderError')
    return [
      'forbidden',
      `No keys for ${address}: set BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY, or what the AWS SDK ` +
        'uses, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    ];
  if (name === 'NoSuchBucket')
    return ['not_found', `There is no bucket ${bucket} at BACKUP_S3_ENDPOINT: create it, or use another`];
  if (ELSEWHERE.has(name) || status === 301)
    return ['invalid', `The bucket ${bucket} is in another region: set BACKUP_S3_REGION (${described(error)})`];
  if (FULL.has(name) || status === 507)
    return [
      'unavailable',
      `${address} is full. Free some space and run the backup again: it resumes. To discard the partial backup instead: prune-backups`,
    ];
  if (status === 401 || status === 403)
    return [
      'forbidden',
      `${address} denied access (${described(error)}): check the keys and their permissions; ${RIGHTS}`,
    ];
  return [
    'unavailable',
    `Request to ${address} failed (${described(error)}). Check BACKUP_S3_ENDPOINT and the network, then run the ` +
      'command again: a backup resumes',
  ];
}

function described({ name, code, message, $metadata }: S3Failure): string {
  const status = $metadata?.httpStatusCode;
  const what = name === 'Error' || name === 'AggregateError' ? (code ?? message) : name;
  return status === undefined ? what : `${status} ${what}`;
}
