import { columnsOf } from '../../exports/exported-rows.js';
import type { ExportedList } from '../../exports/http/export-route.js';
import type { FeedbackLists } from '../feedback-lists.js';
import { AuthoredFeedbackRead } from '../list-schema.js';
import { exportQuery, type SelectedFeedback } from './list-query.js';
import { authoredFeedbackRead } from './presenters.js';
import { TAG } from './schema.js';

/** The export of the feedback of a project. */
export function exportedFeedback(lists: Pick<FeedbackLists, 'exported'>): ExportedList<'feedback', SelectedFeedback> {
  return {
    name: 'feedback',
    tag: TAG,
    described:
      'It is the feedback of people on all spans of the project, with or without a prompt, by when it first came. Filters are those of ' +
      '`GET /projects/{project_id}/prompts/{prompt_slug}/feedback`, and `prompt_id`.',
    query: exportQuery,
    rows: (projectId, query) => ({
      columns: columnsOf(AuthoredFeedbackRead),
      async *pages() {
        for await (const page of lists.exported(projectId, query))
          yield page.map((item) => JSON.stringify(authoredFeedbackRead(item)));
      },
    }),
  };
}
