import { defineLines } from '../line.js';

/** What clients send: spans, images, feedback links. */
export const clientLines = defineLines({
  spansRejected: {
    level: 'debug',
    message: 'Spans rejected',
    when: 'Spans were rejected; `reason` is the kind of error, `source` the interface they came by.',
  },
  attachmentsRemoved: {
    level: 'info',
    message: 'Images of deleted spans removed',
    when: 'No span refers to these images anymore.',
  },
  attachmentSweepFailed: {
    level: 'warn',
    message: 'Could not clean up images; retrying',
    when: 'Images of deleted spans remain on the disk or in the bucket.',
    action:
      'If it repeats: check that DATA_DIR/attachments is writable, or that S3_BUCKET responds and allows deleting objects',
  },
  attachmentNotFetched: {
    level: 'info',
    message: 'Image not fetched; its URL is kept as a reference',
    when: 'A span refers to an image at a host of `ATTACHMENT_FETCH_HOSTS` that did not send it.',
  },
  linkOpensHereOnly: {
    level: 'warn',
    message: 'A feedback link works only on this machine: set PUBLIC_URL to the address that others use',
    when: 'The first feedback link created without `PUBLIC_URL`, on an address that others cannot reach.',
    action: 'Restart the server with PUBLIC_URL; existing links work there too, with the same path',
  },
});
