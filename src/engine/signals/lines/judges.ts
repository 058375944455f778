import { defineLines } from '../line.js';

/** Judges, and the models they ask. */
export const judgeLines = defineLines({
  modelCallFailed: {
    level: 'warn',
    message: 'Model endpoint call failed',
    when: 'The endpoint did not respond, or returned an error (`code`, `detail`). One line in 10 seconds for a project, model and code; more at `debug`.',
    action:
      'Check what `detail` names: the address (JUDGE_LLM_BASE_URL), the model name, its limits. Evaluations are attempted six times',
  },
  keyRefused: {
    level: 'warn',
    message: 'The model endpoint rejects the API key: set JUDGE_LLM_API_KEY to a valid one',
    when: 'The endpoint rejected the key with 401 or 403 for the first time. Logged once until it accepts the key again.',
    action:
      'Restart with a valid JUDGE_LLM_API_KEY that may use the model, then retry failed evaluations (judges/{id}:retry)',
  },
  keyAccepted: {
    level: 'info',
    message: 'The model endpoint accepts the key again',
    when: 'The first call that succeeds after the key was rejected.',
  },
  evaluationGivenUp: {
    level: 'debug',
    message: 'Evaluation failed permanently',
    when: 'An evaluation failed permanently; the failed runs of its judge list it with the reason.',
  },
  judgesNotRunning: {
    level: 'warn',
    message: 'Judges are disabled: JUDGE_LLM_BASE_URL is not set',
    when: 'At start, if judges are enabled.',
    action: 'Set JUDGE_LLM_BASE_URL (and JUDGE_LLM_API_KEY, JUDGE_LLM_MODEL), or disable the judges',
  },
  callSpansLost: {
    level: 'warn',
    message: 'Could not store model calls of judges as spans; their evaluations are stored',
    when: 'ClickHouse did not accept them; internal usage lacks the cost of these calls.',
    action: 'Find out why ClickHouse accepts no spans: /readyz, its disk space, the lines before this one',
  },
  recordingFailed: {
    level: 'warn',
    message: 'Could not store evaluations of judges; they stay queued',
    when: 'SQLite accepted no write; the model is not called again for them while the server runs.',
    action: 'Check that the disk of DATA_DIR has space and no other program locks the SQLite file',
  },
  runnerFailed: {
    level: 'warn',
    message: 'Could not run queued evaluations; the runner continues',
    when: 'A store did not respond, or a bug; the evaluations stay queued.',
    action: 'If it repeats: check /readyz; if all stores respond, report it with this line',
  },
  runsNotRead: {
    level: 'warn',
    message: 'Could not read spans of queued evaluations; reading fewer at once',
    when: 'ClickHouse hit a time or memory limit, or did not respond.',
    action: 'If it repeats: check /readyz, and give the engine more memory (ENGINE_MEMORY_MB)',
  },
  feedFailed: {
    level: 'warn',
    message: 'Could not check new spans for judges; retrying',
    when: 'A store did not respond. No span is skipped; evaluations are delayed.',
    action: 'If it repeats: check /readyz',
  },
  spanNotRead: {
    level: 'warn',
    message: 'Could not read a new span for judges; it is not evaluated',
    when: 'A single span is too large to read within `READ_MAX_RESULT_MB` and the limits of the engine.',
    action: 'Have the client send less in one span, or queue it with judges/{id}:run after raising READ_MAX_RESULT_MB',
  },
});
