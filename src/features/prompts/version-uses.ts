/** Everything that uses a version of a prompt, or with the only version the prompt. */
export interface VersionUses {
  /** Tags that point at it, except for `latest`. */
  readonly tags: readonly string[];
  /** Names of judges that run with it. */
  readonly judges: readonly string[];
  /** Ids of optimizations of it that have not ended. */
  readonly optimizations: readonly string[];
  /** What uses the prompt, when this is its only version; else null. */
  readonly prompt: {
    /** Names of judges that evaluate its completions. */
    readonly judges: readonly string[];
    readonly has_feedback: boolean;
    readonly has_links: boolean;
    readonly has_optimizations: boolean;
  } | null;
}

const MAX_NAMED = 5;

/** Why a version is needed, in sentences; empty: it is not. */
export function needsOf({ tags, judges, optimizations, prompt }: VersionUses): string[] {
  const needs = [
    tags.length > 0 && `tags point to it, pin them to another version or remove them first: ${named(tags)}`,
    judges.length > 0 && `judges use it: ${named(judges)}`,
    optimizations.length > 0 && `optimizations of it are unfinished: ${named(optimizations)}`,
    ...(prompt === null
      ? []
      : [
          prompt.judges.length > 0 &&
            `it is the only version, and judges filter by its prompt: ${named(prompt.judges)}`,
          prompt.has_feedback && 'it is the only version, and its prompt has feedback',
          prompt.has_links && 'it is the only version, and its prompt has feedback links',
          prompt.has_optimizations && 'it is the only version, and there are optimizations of its prompt',
        ]),
  ];
  return needs.filter((need) => need !== false);
}

function named(all: readonly string[]): string {
  const more = all.length - MAX_NAMED;
  return all.slice(0, MAX_NAMED).join(', ') + (more > 0 ? `, and ${more} more` : '');
}

/** Kind of the jobs that optimize prompts. */
export const OPTIMIZATION = 'optimization';
