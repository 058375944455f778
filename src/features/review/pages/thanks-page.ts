import type { StoredFeedback } from '../../feedback/feedback.js';
import { html, type Html } from '../../../http/pages/html.js';
import { thumb } from './icons.js';
import type { PagePaths } from './shell.js';
import { visibleText } from './visible-text.js';

const SNIPPET = 280;

/** The page after the last completion: the reviewer's answers, and what may still be done. */
export function thanksPage(
  paths: PagePaths,
  reviewer: string | null,
  round: readonly string[],
  given: ReadonlyMap<string, StoredFeedback>,
): Html {
  const open = round.filter((id) => !given.has(id));
  const answered = round.flatMap((id, index) => {
    const feedback = given.get(id);
    return feedback === undefined ? [] : [{ id, index, feedback }];
  });
  return html`<section class="thanks" data-title="Thank you">
    <h1 tabindex="-1">Thank you${reviewer === null ? '' : html`, <bdi>${visibleText(reviewer)}</bdi>`}</h1>
    <p>
      You reviewed ${answered.length} of ${round.length}
      ${round.length === 1 ? 'answer' : 'answers'}.${open.length === 0 ? ' No more answers for now.' : ''}
    </p>
    <p class="actions">
      ${
        open.length > 0 &&
        html`<a class="button" href="${paths.page}?c=${open[0] ?? ''}" data-swap
          >Continue with the other ${open.length === 1 ? 'answer' : `${open.length} answers`}</a
        >`
      }<a class="button quiet" href="${paths.page}" data-swap>Check for new answers</a>
    </p>
    ${
      answered.length > 0 &&
      html`<h2>Your feedback</h2>
        <ol class="given">
          ${answered.map(({ id, index, feedback }) => givenView(paths, id, index, feedback))}
        </ol>`
    }
  </section>`;
}

function givenView(paths: PagePaths, id: string, index: number, feedback: StoredFeedback): Html {
  const which = feedback.thumbs_up ? 'up' : 'down';
  return html`<li>
    <p class="verdict-${which}">
      ${thumb(which)} <strong>${feedback.thumbs_up ? 'Good' : 'Not good'}</strong> <span>Answer ${index + 1}</span>
    </p>
    ${quoted('Why', feedback.reason)}${quoted('A better answer', feedback.expected_output)}
    <a href="${paths.page}?c=${id}" data-swap aria-label="Change your feedback on answer ${index + 1}">Change</a>
  </li>`;
}

function quoted(label: string, text: string | null): Html | null {
  if (text === null) return null;
  const cut = text.length > SNIPPET ? `${text.slice(0, SNIPPET)}…` : text;
  return html`<div class="quoted">
    <p class="label">${label}</p>
    <div class="text" dir="auto">${visibleText(cut)}</div>
  </div>`;
}
