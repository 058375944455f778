import { readFileSync } from 'node:fs';

const FOLDER = new URL('static/', import.meta.url);

/** A page of the manual. */
export interface Chapter {
  /** Name of its file, and of its page below `/docs`. */
  readonly name: string;
  /** The reader's task. */
  readonly title: string;
  /** A sentence that says what the chapter is about. */
  readonly summary: string;
  /** Markdown: everything below title and summary. */
  readonly text: string;
}

/** Chapters of one kind, in the order in which they are read. */
export interface ChapterGroup {
  readonly title: string;
  readonly chapters: readonly Chapter[];
}

/** Parts of the manual that are derived from definitions. */
export interface Tables {
  /** Every setting. */
  readonly settings: string;
  /** What becomes of the attributes of OpenTelemetry. */
  readonly mapping: string;
  /** Metrics and lines of the log. */
  readonly monitoring: string;
  /** What the audit log has. */
  readonly audit: string;
}

const GROUPS: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  {
    title: 'Observe',
    names: [
      'send-traces',
      'opentelemetry',
      'langfuse',
      'langsmith',
      'phoenix',
      'import',
      'find-traces',
      'statistics',
      'dashboards',
      'monitors',
      'images',
      'masking',
      'model-prices',
      'deletion',
      'scheduled-exports',
      'console',
      'command-line',
      'mcp',
    ],
  },
  {
    title: 'Improve',
    names: [
      ...[
        'prompts',
        'scores',
        'datasets',
        'experiments',
        'comparisons',
        'feedback',
        'sharing',
        'judges',
        'calibration',
      ],
      ...['optimizations', 'playground'],
    ],
  },
  {
    title: 'Operate',
    names: [
      ...['operations', 'containers', 'deploy', 'monitoring', 'backups', 'external-clickhouse', 'move-clickhouse'],
      ...['check', 'security', 'asvs', 'audit-log', 'server-traces', 'configuration', 'limits'],
    ],
  },
  { title: 'Administer', names: ['projects', 'people', 'api-keys', 'signing-in', 'single-sign-on', 'moving'] },
  { title: 'Look up', names: ['api-basics', 'glossary', 'questions', 'changes'] },
];

/** Groups of calls, each with the chapter about it. */
const CHAPTER_OF_CALLS: Readonly<Record<string, string>> = {
  Traces: 'send-traces',
  Langfuse: 'langfuse',
  LangSmith: 'langsmith',
  Phoenix: 'phoenix',
  Prompts: 'prompts',
  Scores: 'scores',
  Datasets: 'datasets',
  Experiments: 'experiments',
  Comparisons: 'comparisons',
  Masking: 'masking',
  'Model prices': 'model-prices',
  Deletions: 'deletion',
  'Scheduled exports': 'scheduled-exports',
  Monitors: 'monitors',
  Webhooks: 'monitors',
  Dashboards: 'dashboards',
  'Saved views': 'dashboards',
  Judges: 'judges',
  Calibration: 'calibration',
  Optimizations: 'optimizations',
  Playground: 'playground',
  Feedback: 'feedback',
  Comments: 'sharing',
  Sharing: 'sharing',
  'Signing in': 'signing-in',
  Operations: 'operations',
  'API keys': 'api-keys',
  People: 'people',
  Projects: 'projects',
  Moving: 'moving',
  Audit: 'audit-log',
};
/** Further chapters about calls of a group. */
const MORE_ABOUT_CALLS: Readonly<Record<string, string>> = {
  'find-traces': 'Traces',
  statistics: 'Traces',
  images: 'Traces',
  deletion: 'Traces',
  opentelemetry: 'Traces',
  monitoring: 'Operations',
};
/** Chapters that had no calls when old links were made. */
const FORMER_TOPICS: Readonly<Record<string, string>> = {
  Console: 'console',
  OpenTelemetry: 'opentelemetry',
  Monitoring: 'monitoring',
  Limits: 'limits',
  Configuration: 'configuration',
  Questions: 'questions',
  Changes: 'changes',
};

/** The manual: the Markdown files in `static`, each a chapter. @param tables what is derived from definitions, and ends a chapter */
export function manual(tables: Tables): ChapterGroup[] {
  const endings: Readonly<Record<string, string>> = {
    opentelemetry: tables.mapping,
    monitoring: tables.monitoring,
    configuration: tables.settings,
    'audit-log': tables.audit,
  };
  return GROUPS.map(({ title, names }) => ({ title, chapters: names.map((name) => chapter(name, endings[name])) }));
}

/** The chapter about a group of calls. @param tag of its routes */
export function chapterOfTag(tag: string): Chapter {
  const name = CHAPTER_OF_CALLS[tag];
  if (name === undefined) throw new Error(`No chapter of the manual is about "${tag}"`);
  return chapter(name);
}

/** The groups of calls that a chapter is about, as the reference of calls names them. */
export function callsOf(chapterName: string): string[] {
  const more = MORE_ABOUT_CALLS[chapterName];
  return [...namesOf(chapterName, CHAPTER_OF_CALLS), ...(more === undefined ? [] : [more])];
}

/** What old links to the manual name that now leads to a chapter, as in `/docs#/Judges`. */
export function formerNames(chapterName: string): string[] {
  return [...namesOf(chapterName, CHAPTER_OF_CALLS), ...namesOf(chapterName, FORMER_TOPICS)];
}

function namesOf(chapterName: string, names: Readonly<Record<string, string>>): string[] {
  return Object.entries(names)
    .filter(([, name]) => name === chapterName)
    .map(([former]) => former);
}

function chapter(name: string, ending?: string): Chapter {
  const written = readFileSync(new URL(`${name}.md`, FOLDER), 'utf8').trim();
  const [, title = '', summary = '', text = ''] = /^# (.+)\n\n([^\n]+)(?:\n\n([^]*))?$/.exec(written) ?? [];
  if (title === '') throw new Error(`${name}.md must begin with a title and a sentence`);
  return { name, title, summary, text: ending === undefined ? text : `${text}\n\n${ending}` };
}
