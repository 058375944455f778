import type { Issue } from '../../../engine/errors.js';
import { html, type Html } from '../../../http/pages/html.js';
import { visibleText } from './visible-text.js';

/** Why a form was not saved, in the words of its fields. */
export function issuesView(issues: readonly Issue[]): Html {
  return html`<div class="problem" role="alert"><p>Your feedback is not saved yet</p>
<ul>${issues.map((issue) => html`<li>${inWords(issue)}</li>`)}</ul></div>`;
}

/** As people say it who see fields, not pointers. */
function inWords({ pointer, detail }: Issue): Html {
  if (pointer === '/thumbs_up') return html`Choose “Good” or “Not good”.`;
  return html`${LABELS[pointer] ?? visibleText(pointer)} ${visibleText(detail)}.`;
}

const LABELS: Readonly<Record<string, string>> = {
  '': 'This link',
  '/reviewer_name': 'Your name',
  '/reason': 'The reason',
  '/expected_output': 'The better answer',
  '/completion_id': 'The completion',
};
