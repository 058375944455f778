/**
 * The latest row of a tag in `prompt_tag_pins` that counts says where the tag points. A row with this number, which no version
 * has, says that the tag was removed.
 */
export const NO_VERSION = 0;

const countingMoves = (prompt: string) => `prompt_tag_pins WHERE prompt_id = ${prompt} AND counts = 1`;

/** SQL for a field of the latest move of a tag that counts. */
const ofLatestMove = (field: string, prompt: string, tag: string) =>
  `(SELECT ${field} FROM ${countingMoves(prompt)} AND tag = ${tag} ORDER BY pinned_at DESC, id DESC LIMIT 1)`;

/** SQL for the version that a tag of a prompt points at; null when it points at none. */
export const pinnedVersion = (prompt: string, tag: string) =>
  ofLatestMove(`nullif(version, ${NO_VERSION})`, prompt, tag);

/** SQL for the time of a move that is made now: behind all that count, also when the clock went back. */
export const timeOfMove = (prompt: string, tag: string, now: string) =>
  `max(${now}, coalesce(${ofLatestMove('pinned_at', prompt, tag)} + 1, 0))`;

/** SQL that begins a statement: the tags that a prompt ever had, each found by one step in the index, and last of all null. */
const everyTag = (prompt: string, upTo = -1) =>
  `WITH RECURSIVE tags (tag) AS (
     SELECT min(tag) FROM ${countingMoves(prompt)}
     UNION ALL
     SELECT (SELECT min(tag) FROM ${countingMoves(prompt)} AND tag > tags.tag) FROM tags WHERE tags.tag IS NOT NULL
     LIMIT ${upTo})`;

/** SQL for the number of tags that a prompt ever had, counted up to a bound. */
export const countOfTags = (prompt: string, upTo: number) => `${everyTag(prompt, upTo)} SELECT count(tag) FROM tags`;

/** SQL for whether a prompt ever had a tag. */
export const hadTag = (prompt: string, tag: string) =>
  `EXISTS (SELECT 1 FROM ${countingMoves(prompt)} AND tag = ${tag})`;

/** SQL for the tags of a prompt and the versions that they point at. */
export const pinnedTags = (prompt: string) =>
  `${everyTag(prompt)}
   SELECT tag, version FROM (SELECT tag, ${pinnedVersion(prompt, 'tags.tag')} AS version FROM tags WHERE tag IS NOT NULL)
   WHERE version IS NOT NULL`;
