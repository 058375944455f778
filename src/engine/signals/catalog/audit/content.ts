import type { Line } from '../../signal.js';

/** What people make: judges, prompts, datasets, scores, links. */
export const contentLines = {
  judgeMade: {
    level: 'info',
    message: 'Judge created',
    when: 'The judge `subject_id`.',
  },
  judgeChanged: {
    level: 'info',
    message: 'Judge changed',
    when: 'The judge `subject_id`, or its prompt through the judge.',
  },
  judgeDeleted: {
    level: 'info',
    message: 'Judge deleted',
    when: 'The judge `subject_id`.',
  },
  promptVersionMade: {
    level: 'info',
    message: 'Prompt version created',
    when: 'The version `subject_id`, also where it is the first of its prompt.',
  },
  promptVersionChanged: {
    level: 'info',
    message: 'Model of a prompt version set',
    when: 'The version `subject_id` was bound to a model, or to none.',
  },
  promptVersionDeleted: {
    level: 'info',
    message: 'Prompt version deleted',
    when: 'The version `subject_id`; with the last one, the prompt.',
  },
  tagMoved: {
    level: 'info',
    message: 'Prompt tag moved',
    when: 'It points to the prompt version `subject_id` (`prompt_version_id`).',
  },
  tagRemoved: {
    level: 'info',
    message: 'Prompt tag removed',
    when: 'It pointed to the prompt version `subject_id`.',
  },
  datasetMade: {
    level: 'info',
    message: 'Dataset created',
    when: 'The dataset `subject_id`. Its rows are not logged.',
  },
  datasetChanged: {
    level: 'info',
    message: 'Dataset changed',
    when: 'The name, description or roles of the dataset `subject_id`.',
  },
  datasetDeleted: {
    level: 'info',
    message: 'Dataset deleted',
    when: 'The dataset `subject_id`, with all its versions.',
  },
  experimentDeleted: {
    level: 'info',
    message: 'Experiment deleted',
    when: 'The experiment `subject_id`, with its results.',
  },
  scoreDeleted: {
    level: 'info',
    message: 'Score deleted',
    when: 'The score `subject_id`.',
  },
  scoreDefinitionSet: {
    level: 'info',
    message: 'Score definition set',
    when: 'The definition of a score name was created or replaced.',
  },
  scoreDefinitionDeleted: {
    level: 'info',
    message: 'Score definition deleted',
    when: 'Scores with this name may have any value again.',
  },
  linkMade: {
    level: 'info',
    message: 'Feedback link created',
    when: 'The link `subject_id`.',
  },
  linkChanged: {
    level: 'info',
    message: 'Feedback link changed',
    when: 'The expiry of the link `subject_id` changed; an expired link may be open again.',
  },
  linkRevoked: {
    level: 'info',
    message: 'Feedback link revoked',
    when: 'The link `subject_id`.',
  },
  commentDeleted: {
    level: 'info',
    message: 'Comment deleted',
    when: 'The comment `subject_id`, by its author or an admin.',
  },
  shareLinkMade: {
    level: 'info',
    message: 'Share link created',
    when: 'The link `subject_id` shows a trace to whoever has it.',
  },
  shareLinkRevoked: {
    level: 'info',
    message: 'Share link revoked',
    when: 'The link `subject_id`.',
  },
  sharingSet: {
    level: 'info',
    message: 'Share links allowed or forbidden',
    when: 'From then on, share links of the project work, or none does.',
  },
} satisfies Readonly<Record<string, Line>>;
