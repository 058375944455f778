import { defineLines } from '../line.js';

/** Judges, and the models they ask. */
export const judgeLines = defineLines({
  modelCallFailed: {
    level: 'warn',
    message: 'A call of the model endpoint failed',
    when: 'The endpoint did not answer, or with an error (`code`, `detail`). One line in 10 seconds for a project, model and code; more at `debug`.',
    action:
      'Act on the detail: the address (JUDGE_LLM_BASE_URL), the name of the model, its limits. Evaluations are tried again JUDGE_MAX_ATTEMPTS times',
  },
  keyRefused: {
    level: 'warn',
    message: 'The model endpoint refuses the key: set JUDGE_LLM_API_KEY to one that it accepts',
    when: 'The endpoint said of the key, by 401 or 403, what it had not said before. Once until it accepts the key again.',
    action:
      'Restart with a JUDGE_LLM_API_KEY that is valid and may use the model, then have failed evaluations tried again (judges/{id}:retry)',
  },
  keyAccepted: {
    level: 'info',
    message: 'The model endpoint accepts the key again',
    when: 'The first call that succeeds after the key was refused.',
  },
  evaluationGivenUp: {
    level: 'debug',
    message: 'Evaluation given up',
    when: 'An evaluation failed for good; it is listed with its reason among the failed ones of its judge.',
  },
  judgesNotRunning: {
    level: 'warn',
    message: 'Judges do not run: JUDGE_LLM_BASE_URL is not set',
    when: 'At the start, when judges are enabled.',
    action: 'Set JUDGE_LLM_BASE_URL (and JUDGE_LLM_API_KEY, JUDGE_LLM_MODEL), or disable the judges',
  },
  callSpansLost: {
    level: 'warn',
    message: 'Model calls of judges could not be stored as spans; their evaluations are stored',
    when: 'ClickHouse did not take them; the cost of these calls is missing from own usage.',
    action: 'See why ClickHouse takes no spans: /readyz, its room on the disk, the lines before this one',
  },
  recordingFailed: {
    level: 'warn',
    message: 'Evaluations of judges could not be stored; they stay queued',
    when: 'SQLite took no write; the model is not asked again for them while the server runs.',
    action: 'See that the disk of DATA_DIR has room and no other program keeps the SQLite file locked',
  },
  runnerFailed: {
    level: 'warn',
    message: 'Queued evaluations could not be run; the runner goes on',
    when: 'A store did not answer, or a defect; the evaluations stay queued.',
    action: 'If it repeats: see /readyz; with stores that answer, report it with this line',
  },
  runsNotRead: {
    level: 'warn',
    message: 'Spans of queued evaluations could not be read; fewer will be read at once',
    when: 'ClickHouse met a limit of time or memory, or did not answer.',
    action: 'If it repeats: see /readyz, and give the engine more memory (ENGINE_MEMORY_MB)',
  },
  feedFailed: {
    level: 'warn',
    message: 'New spans could not be checked for judges; it will be tried again',
    when: 'A store did not answer. No span is left out; evaluations come later.',
    action: 'If it repeats: see /readyz',
  },
  spanNotRead: {
    level: 'warn',
    message: 'A new span could not be read for judges; it is not evaluated',
    when: 'One span alone is too large to be read in the limits of `READ_MAX_RESULT_MB` and the engine.',
    action: 'Have the client send less in one span, or queue it by judges/{id}:run after raising READ_MAX_RESULT_MB',
  },
});
