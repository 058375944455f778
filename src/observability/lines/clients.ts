import { defineLines } from '../line.js';

/** What clients send: spans, images, feedback links. */
export const clientLines = defineLines({
  spansRejected: {
    level: 'debug',
    message: 'Spans rejected',
    when: 'Spans were refused; `reason` is the kind of error, `source` the source interface.',
  },
  attachmentsRemoved: {
    level: 'info',
    message: 'Images of deleted spans removed',
    when: 'No span refers to these images anymore.',
  },
  attachmentSweepFailed: {
    level: 'warn',
    message: 'Images could not be cleaned up; it will be tried again',
    when: 'Images of deleted spans are still on the disk or in the bucket.',
    action:
      'If it continues: check that DATA_DIR/attachments is writable, or that S3_BUCKET responds and allows ' +
      'deletions',
  },
  attachmentNotFetched: {
    level: 'info',
    message: 'Image not fetched; its URL is kept as a reference',
    when: 'A span names an image on a host in `ATTACHMENT_FETCH_HOSTS` that did not send it.',
  },
  linkOpensHereOnly: {
    level: 'warn',
    message: 'A feedback link opens on this machine only: set PUBLIC_URL to the address of the server for others',
    when: 'The first feedback link that was created without `PUBLIC_URL`, on an address that others cannot reach.',
    action: 'Start the server with PUBLIC_URL; existing links then work there too, with the same path',
  },
});
