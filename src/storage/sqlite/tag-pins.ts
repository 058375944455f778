/**
 * The last row of a tag in `prompt_tag_pins` says where the tag points. A row with this number, which no version has,
 * says that the tag was removed.
 */
export const NO_VERSION = 0;

/** SQL for the version that a tag of a prompt points at; null when it points at none. */
export const pinnedVersion = (prompt: string, tag: string) =>
  `(SELECT nullif(version, ${NO_VERSION}) FROM prompt_tag_pins WHERE prompt_id = ${prompt} AND tag = ${tag} ORDER BY id DESC LIMIT 1)`;

/** SQL for the tags of a prompt and the versions that they point at. */
export const pinnedTags = (prompt: string) =>
  `SELECT tag, version FROM (SELECT tag, version, max(id) FROM prompt_tag_pins WHERE prompt_id = ${prompt} GROUP BY tag)
   WHERE version <> ${NO_VERSION}`;
