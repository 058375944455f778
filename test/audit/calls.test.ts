import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { AUDIT_ACTIONS, type AuditAction } from '../../src/engine/identity/audit-actions.js';

/** Why a call that changes something leaves no entry. */
const SENDS = 'it sends what is traced or said, and what is stored says who sent it';
const WORKS = 'it works with what is stored, and changes no setting';
const READS = 'it only reads';

/** What each call that changes or takes out something leaves in the audit log; a text: why it leaves nothing. */
const CALLS: Readonly<Record<string, readonly AuditAction[] | string>> = {
  ...{ postSpans: SENDS, postTraces: SENDS, postSessions: SENDS, postOtlpTraces: SENDS, logCompletion: SENDS },
  ...{ deleteSpan: ['span.delete'], deleteTrace: ['trace.delete'], deleteSession: ['session.delete'] },
  ...{ createDeletion: ['deletion.create'], cancelDeletion: ['deletion.cancel'] },
  ...{ exportSpans: ['export.create'], exportTraces: ['export.create'], exportSessions: ['export.create'] },
  ...{ exportScores: ['export.create'], exportFeedback: ['export.create'], exportAudit: ['export.create'] },
  createScheduledExport: ['scheduled_export.create'],
  updateScheduledExport: ['scheduled_export.update'],
  deleteScheduledExport: ['scheduled_export.delete'],
  runScheduledExport: ['scheduled_export.run'],
  ...{ postScores: SENDS, postSignal: SENDS, postSignals: SENDS, postAbChoice: SENDS, deleteScore: ['score.delete'] },
  putScoreDefinition: ['score_definition.set'],
  deleteScoreDefinition: ['score_definition.delete'],
  ...{ createDataset: ['dataset.create'], updateDataset: ['dataset.update'], deleteDataset: ['dataset.delete'] },
  ...{ createDatasetVersion: SENDS, postDatasetData: SENDS, addDatasetRowsFromSpans: SENDS },
  eraseDatasetRow: ['dataset_row.erase'],
  ...{ pinDatasetTag: WORKS, deleteDatasetTag: WORKS },
  ...{ createExperiment: WORKS, finishExperiment: WORKS, cancelExperiment: WORKS, updateExperiment: WORKS },
  ...{ deleteExperiment: ['experiment.delete'], postExperimentResults: SENDS, runExperiment: WORKS },
  ...{ pinExperimentTag: WORKS, deleteExperimentTag: WORKS, createComparison: WORKS, deleteComparison: WORKS },
  ...{ createEval: WORKS, updateEval: WORKS, postEvalResults: SENDS, ensureEvalScorer: WORKS },
  ...{ updateEvalScorerFormats: WORKS, deleteEvalScorer: WORKS, postEvalScores: SENDS },
  ...{ postEvalColumnMetric: WORKS, postEvalMetric: WORKS },
  ...{ postPhoenixSpanAnnotations: SENDS, postPhoenixTraceAnnotations: SENDS, postPhoenixSessionAnnotations: SENDS },
  ...{ postPhoenixSpanAnnotationsOfClient: SENDS, postPhoenixTraceAnnotationsOfClient: SENDS },
  postPhoenixSessionAnnotationsOfClient: SENDS,
  ensurePromptVersion: ['prompt_version.create'],
  bindPromptVersionModel: ['prompt_version.set_model'],
  deletePromptVersion: ['prompt_version.delete'],
  ...{ pinPromptTag: ['prompt_tag.move'], deletePromptTag: ['prompt_tag.delete'] },
  ...{ putModelPrice: ['model_price.set'], deleteModelPrice: ['model_price.delete'] },
  ...{ repriceSpans: ['reprice.create'], cancelReprice: WORKS },
  ...{
    createJudge: ['judge.create'],
    updateJudge: ['judge.update', 'prompt_version.create'],
    deleteJudge: ['judge.delete'],
  },
  ...{ previewJudge: READS, recordEvaluation: SENDS, runJudge: WORKS, retryJudgeRuns: WORKS },
  ...{ evaluateCalibration: WORKS, cancelCalibrationTrial: WORKS, optimizePrompt: WORKS, cancelOptimization: WORKS },
  promoteCandidate: ['prompt_version.create'],
  ...{ estimatePlayground: READS, runPlayground: WORKS },
  ...{ submitFeedback: SENDS, submitSpanFeedback: SENDS, postReview: SENDS },
  createFeedbackLink: ['feedback_link.create'],
  updateFeedbackLink: ['feedback_link.update'],
  revokeFeedbackLink: ['feedback_link.revoke'],
  ...{ createComment: SENDS, updateComment: SENDS, deleteComment: ['comment.delete'] },
  ...{
    createShareLink: ['share_link.create'],
    revokeShareLink: ['share_link.revoke'],
    setSharing: ['project.set_sharing'],
  },
  ...{ signIn: ['sign_in.create'], signOut: ['sign_in.delete'], previewSignIn: READS, endSignIn: ['sign_in.end'] },
  ...{ inviteColleague: ['person.invite'], joinProject: ['person.join'] },
  ...{ updateMember: ['person.set_role'], removeMember: ['person.remove'] },
  ...{ endMemberSignIns: ['sign_in.end'], endOwnSession: ['sign_in.end'], endOtherSessions: ['sign_in.end'] },
  ...{ postLangfuseEvents: SENDS, postLangfuseScore: SENDS, postLangfuseOtlpTraces: SENDS },
  deleteLangfuseScore: ['score.delete'],
  deleteLangfusePrompt: ['prompt_version.delete', 'prompt_tag.delete'],
  createLangfusePrompt: ['prompt_version.create', 'prompt_tag.move'],
  updateLangfusePromptLabels: ['prompt_tag.move'],
  createLangfuseDataset: ['dataset.create', 'dataset.update'],
  createLangfuseDatasetOfOldClient: ['dataset.create', 'dataset.update'],
  ...{ putLangfuseDatasetItem: SENDS, deleteLangfuseDatasetItem: ['dataset_row.erase'], postLangfuseRunItem: SENDS },
  deleteLangfuseRun: ['experiment.delete'],
  ...{ postLangsmithRuns: SENDS, postLangsmithRun: SENDS, patchLangsmithRun: SENDS, postLangsmithRunParts: SENDS },
  ...{ queryLangsmithRuns: READS, postLangsmithOtlpTraces: SENDS },
  ...{ postLangsmithFeedback: SENDS, updateLangsmithFeedback: SENDS, deleteLangsmithFeedback: ['score.delete'] },
  createLangsmithDataset: ['dataset.create'],
  updateLangsmithDataset: ['dataset.update'],
  deleteLangsmithDataset: ['dataset.delete'],
  ...{ createLangsmithExamples: SENDS, updateLangsmithExamples: SENDS, deleteLangsmithExample: ['dataset_row.erase'] },
  ...{ createLangsmithProject: WORKS, updateLangsmithProject: WORKS, deleteLangsmithProject: ['experiment.delete'] },
  createApiKey: ['api_key.create'],
  rotateApiKey: ['api_key.create', 'api_key.rotate'],
  revokeApiKey: ['api_key.revoke'],
  createProject: ['project.create'],
  ...{ createMonitor: ['monitor.create'], updateMonitor: ['monitor.update'], deleteMonitor: ['monitor.delete'] },
  ...{ createWebhook: ['webhook.create'], updateWebhook: ['webhook.update'], deleteWebhook: ['webhook.delete'] },
  ...{ createSavedView: ['saved_view.create'], updateSavedView: ['saved_view.update'] },
  ...{ deleteSavedView: ['saved_view.delete'], createDashboard: ['dashboard.create'] },
  ...{ updateDashboard: ['dashboard.update'], deleteDashboard: ['dashboard.delete'] },
  ...{ testMonitor: READS, rotateWebhookSecret: ['webhook.rotate'], testWebhook: WORKS },
  ...{ setMasking: ['masking.set'], testMasking: READS },
  setModelBudget: ['model_budget.set'],
  ...{ announceLangfuseMedia: SENDS, reportLangfuseMedia: SENDS, uploadAttachment: SENDS },
  ...{ queryPhoenixSpans: READS, postPhoenixOtlpTraces: SENDS },
  uploadPhoenixDataset: ['dataset.create', 'dataset.update'],
  ...{ createPhoenixPrompt: ['prompt_version.create'], tagPhoenixPromptVersion: ['prompt_tag.move'] },
  ...{ deletePhoenixDataset: ['dataset.delete'], createPhoenixExperiment: WORKS, postPhoenixRun: SENDS },
  ...{ postPhoenixEvaluation: SENDS, deletePhoenixExperiment: ['experiment.delete'] },
  ...{ deletePhoenixSession: ['session.delete'], deletePhoenixSessions: ['session.delete'] },
  deletePhoenixPrompt: ['prompt_version.delete', 'prompt_tag.delete'],
  ...{ updateProject: ['project.update', 'project.set_retention'], deleteProject: ['project.delete'] },
  ...{ exportRecords: ['records.export'], importRecords: ['records.import'] },
};
interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

describe('what calls leave in the audit log', () => {
  it('is stated of each call that changes or takes out something, and there is no other', () => {
    const file = new URL('../../../schema/openapi.json', import.meta.url);
    const { paths } = JSON.parse(readFileSync(file, 'utf8')) as Described;
    const calls = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { operationId }]) =>
        method === 'get' && !/:export$|\/export\//.test(path) ? [] : [operationId],
      ),
    );
    expect(calls).to.have.members(Object.keys(CALLS));
  });

  it('is every action that there is', () => {
    const left = Object.values(CALLS).flatMap((actions) => (typeof actions === 'string' ? [] : actions));
    expect([...new Set(left)]).to.have.members(AUDIT_ACTIONS.map(({ action }) => action));
  });
});
