import type { ChatMessage } from './model-client.js';

const ROLES = new Map<string, ChatMessage['role']>([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['human', 'user'],
  ['assistant', 'assistant'],
  ['model', 'assistant'],
  ['ai', 'assistant'],
]);

/** The role that a model endpoint takes for one by which a vendor or framework calls it; undefined: there is none. */
export function chatRole(role: string): ChatMessage['role'] | undefined {
  return ROLES.get(role);
}
