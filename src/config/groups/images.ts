import { listIn } from './list-in.js';
import type { Settings } from '../settings.js';

/** Where images are kept, and fetched from. */
export function imageGroup(settings: Settings) {
  return {
    attachments: {
      /** Lower case; with a port unless it is the default one. */
      fetchHosts: listIn(settings.ATTACHMENT_FETCH_HOSTS),
      /** Null: files in the data directory. */
      s3:
        settings.S3_BUCKET === undefined
          ? null
          : {
              bucket: settings.S3_BUCKET,
              endpoint: settings.S3_ENDPOINT ?? null,
              region: settings.S3_REGION,
              forcePathStyle: settings.S3_FORCE_PATH_STYLE === 'true',
            },
    },
  };
}
