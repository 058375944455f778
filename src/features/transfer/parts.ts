/** What a project consists of when it moves, in an order in which each part names only what earlier parts hold. */
export const PARTS = [
  'prompts',
  'prompt_versions',
  'tag_moves',
  'prices',
  'score_definitions',
  'saved_views',
  'dashboards',
  'datasets',
  'dataset_versions',
  'dataset_rows',
  'dataset_tag_moves',
  'experiments',
  'experiment_scorers',
  'experiment_metrics',
  'experiment_tag_moves',
  'comparisons',
  'feedback_links',
  'judges',
  'pinned_examples',
  'pinned_versions',
  'experiment_judges',
  'evaluations',
  'feedback',
  'span_feedback',
  'corrections',
  'comments',
  'spans',
  'traces',
  'sessions',
  'scores',
  'attachments',
] as const;
export type Part = (typeof PARTS)[number];

/** Parts that lie beside spans. */
export type MetadataPart = Exclude<Part, 'spans' | 'traces' | 'sessions' | 'scores' | 'attachments'>;

/** Most records of a request that imports, and of a page that is not asked to be larger. */
export const MAX_RECORDS = 1000;
/** Most records of a page: each costs the server less than one of an import. */
export const MAX_PAGE_RECORDS = 5000;
