const NAMES: ReadonlyMap<string, string> = new Map([
  ['system', 'Instructions'],
  ['developer', 'Instructions'],
  ['user', 'User'],
  ['human', 'User'],
  ['assistant', 'Assistant'],
  ['ai', 'Assistant'],
  ['model', 'Assistant'],
  ['tool', 'Tool'],
  ['function', 'Tool'],
]);

/** The role of a message as people call it; undefined for a role of someone's own. */
export function roleName(role: string): string | undefined {
  return NAMES.get(role.toLowerCase());
}
