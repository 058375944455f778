import type { AuditEvent } from '../signals/catalog/audit.js';

/** How the audit log names what happens: the kind of object, and what was done to it. */
const ACTIONS = {
  signedIn: 'sign_in.create',
  signedOut: 'sign_in.delete',
  signInEnded: 'sign_in.end',
  personInvited: 'person.invite',
  personJoined: 'person.join',
  roleChanged: 'person.set_role',
  personRemoved: 'person.remove',
  keyMade: 'api_key.create',
  keyRotated: 'api_key.rotate',
  keyRevoked: 'api_key.revoke',
  projectMade: 'project.create',
  projectRenamed: 'project.update',
  projectDeleted: 'project.delete',
  spanDeleted: 'span.delete',
  traceDeleted: 'trace.delete',
  sessionDeleted: 'session.delete',
  datasetRowErased: 'dataset_row.erase',
  selectionDeleted: 'deletion.create',
  selectionDeletionCanceled: 'deletion.cancel',
  exported: 'export.create',
  recordsExported: 'records.export',
  metadataImported: 'records.import',
  scheduledExportCreated: 'scheduled_export.create',
  scheduledExportChanged: 'scheduled_export.update',
  scheduledExportRun: 'scheduled_export.run',
  scheduledExportDeleted: 'scheduled_export.delete',
  monitorCreated: 'monitor.create',
  monitorChanged: 'monitor.update',
  monitorDeleted: 'monitor.delete',
  webhookCreated: 'webhook.create',
  webhookChanged: 'webhook.update',
  webhookRotated: 'webhook.rotate',
  webhookDeleted: 'webhook.delete',
  savedViewCreated: 'saved_view.create',
  savedViewChanged: 'saved_view.update',
  savedViewDeleted: 'saved_view.delete',
  dashboardCreated: 'dashboard.create',
  dashboardChanged: 'dashboard.update',
  dashboardDeleted: 'dashboard.delete',
  retentionChanged: 'project.set_retention',
  maskingSet: 'masking.set',
  modelBudgetSet: 'model_budget.set',
  priceSet: 'model_price.set',
  priceRemoved: 'model_price.delete',
  repriceOrdered: 'reprice.create',
  judgeMade: 'judge.create',
  judgeChanged: 'judge.update',
  judgeDeleted: 'judge.delete',
  promptVersionMade: 'prompt_version.create',
  promptVersionChanged: 'prompt_version.set_model',
  promptVersionDeleted: 'prompt_version.delete',
  tagMoved: 'prompt_tag.move',
  tagRemoved: 'prompt_tag.delete',
  datasetMade: 'dataset.create',
  datasetChanged: 'dataset.update',
  datasetDeleted: 'dataset.delete',
  experimentDeleted: 'experiment.delete',
  scoreDeleted: 'score.delete',
  scoreDefinitionSet: 'score_definition.set',
  scoreDefinitionDeleted: 'score_definition.delete',
  linkMade: 'feedback_link.create',
  linkChanged: 'feedback_link.update',
  linkRevoked: 'feedback_link.revoke',
  commentDeleted: 'comment.delete',
  shareLinkMade: 'share_link.create',
  shareLinkRevoked: 'share_link.revoke',
  sharingSet: 'project.set_sharing',
} as const satisfies Readonly<Record<AuditEvent, `${string}.${string}`>>;

/** What was done, as the audit log names it. */
export type AuditAction = (typeof ACTIONS)[AuditEvent];

/** Every action with its event, in the order of their names. */
export const AUDIT_ACTIONS: readonly { readonly action: AuditAction; readonly event: AuditEvent }[] = Object.entries(
  ACTIONS,
)
  .map(([event, action]) => ({ action, event: event as AuditEvent }))
  .sort((one, other) => (one.action < other.action ? -1 : 1));

/** How the audit log names what happened. */
export function auditActionOf(event: AuditEvent): AuditAction {
  return ACTIONS[event];
}
