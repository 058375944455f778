import type { Line } from '../../signal.js';

/** What was deleted, and what was taken out or brought in. */
export const dataLines = {
  spanDeleted: {
    level: 'info',
    message: 'Span deletion requested',
    when: 'The deletion of the span `subject_id` was accepted and will complete, even after a crash.',
  },
  traceDeleted: {
    level: 'info',
    message: 'Trace deletion requested',
    when: 'As for a span. `retentionFinished` reports what retention removes.',
  },
  sessionDeleted: {
    level: 'info',
    message: 'Session deletion requested',
    when: 'As for a span.',
  },
  datasetRowErased: {
    level: 'info',
    message: 'Erasure of a dataset row requested',
    when: 'As for a span. `subject_id` is the dataset. The id of the row is not logged, as it may be personal.',
  },
  selectionDeleted: {
    level: 'info',
    message: 'Deletion by filters requested',
    when: 'The job `subject_id` deletes `found` objects of the list `part`, as a dry run counted them.',
  },
  selectionDeletionCanceled: {
    level: 'info',
    message: 'Deletion by filters canceled',
    when: 'The job `subject_id`. What it had deleted stays deleted.',
  },
  exported: {
    level: 'info',
    message: 'List exported',
    when: 'A caller began to export the list `part` in this `format`.',
  },
  recordsExported: {
    level: 'info',
    message: 'Records exported',
    when: 'A caller began to export this `part` of the project.',
  },
  metadataImported: {
    level: 'info',
    message: 'Records imported',
    when: 'Of this `part` of an export, such as judges or prices, `stored` were new. Imported spans are not logged.',
  },
  scheduledExportCreated: {
    level: 'info',
    message: 'Scheduled export created',
    when: 'The export `subject_id` of a list to the bucket of the operator.',
  },
  scheduledExportChanged: {
    level: 'info',
    message: 'Scheduled export changed',
    when: 'The export `subject_id`: its name, how often it runs, or whether it is paused.',
  },
  scheduledExportRun: {
    level: 'info',
    message: 'Scheduled export started',
    when: 'The export `subject_id` runs now.',
  },
  scheduledExportDeleted: {
    level: 'info',
    message: 'Scheduled export deleted',
    when: 'The export `subject_id`.',
  },
} satisfies Readonly<Record<string, Line>>;
