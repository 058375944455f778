import { defineLines } from '../line.js';

/** What clients send: spans, images, feedback links. */
export const clientLines = defineLines({
  spansRejected: {
    level: 'debug',
    message: 'Spans rejected',
    when: 'Spans were refused; `reason` is the kind of the error, `source` the interface they came by.',
  },
  attachmentsRemoved: {
    level: 'info',
    message: 'Images of deleted spans removed',
    when: 'No span refers to these images any more.',
  },
  attachmentSweepFailed: {
    level: 'warn',
    message: 'Images could not be cleaned up; it will be tried again',
    when: 'Images of deleted spans are still on the disk or in the bucket.',
    action:
      'If it goes on: see that DATA_DIR/attachments can be written, or that S3_BUCKET answers and lets objects be deleted',
  },
  attachmentNotFetched: {
    level: 'info',
    message: 'Image not fetched; its URL is kept as a reference',
    when: 'A span names an image at a host of `ATTACHMENT_FETCH_HOSTS` that did not send it.',
  },
  linkOpensHereOnly: {
    level: 'warn',
    message: 'A feedback link opens on this machine only: set PUBLIC_URL to the address of the server for others',
    when: 'The first feedback link that was made without `PUBLIC_URL`, on an address that others cannot reach.',
    action: 'Start the server with PUBLIC_URL; links that exist work there too, with the same path',
  },
});
