import { catalogOf, measured, signal, type LineName, type LogEvent } from '../signal.js';

/** The interface that spans came by. */
type SpanSource = 'rest' | 'otlp' | 'judge' | 'langfuse' | 'langsmith';

/** What clients send and fetch: spans, images, prompts, feedback and its links. */
export const clientCatalog = catalogOf({
  spansRejected: signal<{ source: SpanSource; reason: string; count: number }>({
    level: 'debug',
    message: 'Spans rejected',
    when: 'Spans were rejected; `reason` is the kind of error, `source` the interface they came by.',
    log: ({ source, reason, count }) => ({ source, reason, count }),
    count: (metrics, { source, reason, count }) => metrics.spansRejected.inc({ source, reason }, count),
  }),
  attachmentsRemoved: signal<{ count: number }>({
    level: 'info',
    message: 'Images of deleted spans removed',
    when: 'No span refers to these images anymore.',
    log: ({ count }) => ({ count }),
    count: ({ attachmentsRemoved }, { count }) => attachmentsRemoved.inc(count),
  }),
  attachmentSweepFailed: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not clean up images; retrying',
    when: 'Images of deleted spans remain on the disk or in the bucket.',
    action:
      'If it repeats: check that DATA_DIR/attachments is writable, or that S3_BUCKET responds and allows deleting objects',
    log: ({ error }) => ({ error }),
  }),
  datasetRowsNotRemoved: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not remove rows of a deleted dataset, or of an interrupted upload',
    when: 'No one sees these rows. The next start removes them.',
    action: 'If it repeats: check that the disk of DATA_DIR has space and no other program locks the SQLite file',
    log: ({ error }) => ({ error }),
  }),
  experimentNotRemoved: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not remove a deleted experiment with its results',
    when: 'No one sees the experiment. The server tries again, and so does the next start.',
    action: 'If it repeats: check that ClickHouse responds and that the disk of DATA_DIR has space',
    log: ({ error }) => ({ error }),
  }),
  attachmentNotFetched: signal<{ host: string; reason: string }>({
    level: 'info',
    message: 'Image not fetched; its URL is kept as a reference',
    when: 'A span refers to an image at a host of `ATTACHMENT_FETCH_HOSTS` that did not send it.',
    log: ({ host, reason }) => ({ host, reason }),
  }),
  linkOpensHereOnly: {
    level: 'warn',
    message: 'A link works only on this machine: set PUBLIC_URL to the address that others use',
    when: 'The first feedback link or share link created without `PUBLIC_URL`, on an address that others cannot reach.',
    action: 'Restart the server with PUBLIC_URL; existing links work there too, with the same path',
  },
  /** `cost`: that of all of them in US dollars. */
  spansAccepted: measured<{ source: SpanSource; count: number; cost: number }>((metrics, { source, count, cost }) => {
    metrics.spansAccepted.inc({ source }, count);
    metrics.spanCost.inc({ source }, cost);
  }),
  attachmentStored: measured<{ bytes: number }>(({ attachmentsStored, attachmentBytesStored }, { bytes }) => {
    attachmentsStored.inc();
    attachmentBytesStored.inc(bytes);
  }),
  attachmentServed: measured<{ bytes: number }>(({ attachmentsServed, attachmentBytesServed }, { bytes }) => {
    attachmentsServed.inc();
    attachmentBytesServed.inc(bytes);
  }),
  promptFetched: measured<{ result: 'cached' | 'read' | 'not_found' }>(({ promptFetches }, { result }) =>
    promptFetches.inc({ result }),
  ),
  feedbackAccepted: measured<{ source: 'api' | 'link'; thumbsUp: boolean }>(
    ({ feedbackAccepted }, { source, thumbsUp }) => feedbackAccepted.inc({ source, thumb: thumbsUp ? 'up' : 'down' }),
  ),
});

/** Links that only this machine can open, which is logged of the first. */
export function deriveClients(log: LogEvent<LineName<typeof clientCatalog>>) {
  let isLogged = false;
  return {
    linkOpensHereOnly({ project, link }: { project: string; link: string }): void {
      log('linkOpensHereOnly', { project, link }, isLogged);
      isLogged = true;
    },
  };
}
