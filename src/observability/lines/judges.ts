import { defineLines } from '../line.js';

/** Judges, and the models they ask. */
export const judgeLines = defineLines({
  modelCallFailed: {
    level: 'warn',
    message: 'A call of the model endpoint failed',
    when:
      'The endpoint did not respond, or returned an error (`code`, `detail`). One line in 10 seconds for a project, ' +
      'model and code; further ones at `debug`.',
    action:
      'Act on the detail: the address (JUDGE_LLM_BASE_URL), the model name, its limits. Evaluations are retried ' +
      'JUDGE_MAX_ATTEMPTS times',
  },
  keyRefused: {
    level: 'warn',
    message: 'The model endpoint refuses the key: set JUDGE_LLM_API_KEY to one that it accepts',
    when: 'The endpoint refused the key with 401 or 403 for the first time since it last accepted it.',
    action:
      'Restart with a valid JUDGE_LLM_API_KEY that may use the model, then retry failed evaluations ' +
      '(judges/{id}:retry)',
  },
  keyAccepted: {
    level: 'info',
    message: 'The model endpoint accepts the key again',
    when: 'The first successful call after the key was refused.',
  },
  evaluationGivenUp: {
    level: 'debug',
    message: 'Evaluation given up',
    when: 'An evaluation failed permanently; the failed runs of its judge list it with the reason.',
  },
  judgesNotRunning: {
    level: 'warn',
    message: 'Judges do not run: JUDGE_LLM_BASE_URL is not set',
    when: 'At startup, if judges are enabled.',
    action: 'Set JUDGE_LLM_BASE_URL (and JUDGE_LLM_API_KEY, JUDGE_LLM_MODEL), or disable the judges',
  },
  callSpansLost: {
    level: 'warn',
    message: 'Model calls of judges could not be stored as spans; their evaluations are stored',
    when: 'ClickHouse did not accept them; the cost of these calls is missing from internal usage.',
    action: 'Check why ClickHouse does not accept spans: /readyz, disk space, the lines before this one',
  },
  recordingFailed: {
    level: 'warn',
    message: 'Evaluations of judges could not be stored; they stay queued',
    when: 'SQLite refused the write; while the server runs, the model is not called again for them.',
    action: 'Check that the disk of DATA_DIR has space and that no other program locks the SQLite file',
  },
  runnerFailed: {
    level: 'warn',
    message: 'Queued evaluations could not be run; the runner goes on',
    when: 'A store did not respond, or there is a defect; the evaluations stay queued.',
    action: 'If it repeats: check /readyz; if the stores respond, report it with this line',
  },
  runsNotRead: {
    level: 'warn',
    message: 'Spans of queued evaluations could not be read; fewer will be read at once',
    when: 'ClickHouse reached a limit of time or memory, or did not respond.',
    action: 'If it repeats: check /readyz, and give the engine more memory (ENGINE_MEMORY_MB)',
  },
  feedFailed: {
    level: 'warn',
    message: 'New spans could not be checked for judges; it will be tried again',
    when: 'A store did not respond. No span is skipped; evaluations are delayed.',
    action: 'If it repeats: check /readyz',
  },
  spanNotRead: {
    level: 'warn',
    message: 'A new span could not be read for judges; it is not evaluated',
    when: 'A single span is too large to be read within `READ_MAX_RESULT_MB` and the limits of the engine.',
    action: 'Have the client send less in one span, or queue it with judges/{id}:run after raising READ_MAX_RESULT_MB',
  },
});
