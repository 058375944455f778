import { idFrom, MAX_ID, madeId } from '../facade/ids.js';

export { MAX_ID };

/** An id of LangSmith as one of ours. */
export function ownId(projectId: string, text: string): string {
  return idFrom('langsmith', projectId, text);
}

/** The id of what LangSmith calls a project, which is a tag here. */
export function tracingProjectId(projectId: string, name: string): string {
  return madeId('langsmith', projectId, 'project', name);
}
