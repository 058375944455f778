import type { MetricMaker } from './maker.js';

/** Images. */
export function imageMetrics({ counter }: MetricMaker) {
  return {
    attachmentsStored: counter(
      'spanhouse_attachments_stored_total',
      'Images stored; images that are already stored do not count.',
    ),
    attachmentBytesStored: counter('spanhouse_attachment_bytes_stored_total', 'Bytes of images stored.'),
    attachmentsServed: counter('spanhouse_attachments_served_total', 'Images sent to clients.'),
    attachmentBytesServed: counter('spanhouse_attachment_bytes_served_total', 'Bytes of images sent to clients.'),
    attachmentsRemoved: counter(
      'spanhouse_attachments_removed_total',
      'Images removed because no span refers to them anymore.',
    ),
  };
}
