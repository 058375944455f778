import { S3Client } from '@aws-sdk/client-s3';

/** Where a service that speaks S3 is, and who asks it. */
export interface S3Access {
  /** Address of the S3 service; null: Amazon's own for the region. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly forcePathStyle: boolean;
  /** Default: from where the AWS SDK looks for them. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

export interface S3Patience {
  /** The longest that a request may take until its answer begins. */
  readonly requestMs: number;
  /** The longest that nothing may move; default: as long as the request may take. */
  readonly idleMs?: number;
  /** How often one is tried; default: as the AWS SDK does. */
  readonly attempts?: number;
}

const CONNECT_MS = 5_000;

/** A client of the AWS SDK, for servers of any make. */
export function createS3Client(access: S3Access, { requestMs, idleMs, attempts }: S3Patience): S3Client {
  const { endpoint, region, forcePathStyle, credentials } = access;
  return new S3Client({
    region,
    forcePathStyle,
    ...(endpoint === null ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
    ...(attempts === undefined ? {} : { maxAttempts: attempts }),
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: requestMs,
      throwOnRequestTimeout: true,
      ...(idleMs === undefined ? {} : { socketTimeout: idleMs }),
    },
    // Servers that speak S3 do not all know the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}
