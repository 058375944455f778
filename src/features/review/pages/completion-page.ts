import type { Issue } from '../../../engine/errors.js';
import type { ReviewedCompletion } from '../review-service.js';
import type { ReviewTextLimits } from '../schema.js';
import { conversationView, limitsOf } from './conversation-view.js';
import { issuesView } from './form-issues.js';
import { html, type Html } from '../../../http/pages/html.js';
import { thumb } from './icons.js';
import type { PagePaths } from './shell.js';
import { visibleText } from './visible-text.js';

/** Values that the form shows. */
export interface FormValues {
  readonly thumbs_up: boolean | null;
  readonly reason: string;
  readonly expected_output: string;
  readonly reviewer_name: string;
}

export interface CompletionView {
  readonly paths: PagePaths;
  readonly completion: ReviewedCompletion;
  readonly images: readonly { readonly src: string | null; readonly url: string; readonly label: string }[];
  /** From 0. */
  readonly position: number;
  readonly round: readonly string[];
  /** Ids of the completions of this round that the reviewer has answered. */
  readonly answered: ReadonlySet<string>;
  /** Whether long texts are shown in full. */
  readonly all: boolean;
  /** Null: the form asks for it. */
  readonly reviewer: string | null;
  /** Signs the form for a reviewer whose name is remembered. */
  readonly formValue: string | null;
  readonly textLimits: ReviewTextLimits;
  readonly values: FormValues;
  readonly issues: readonly Issue[];
}

export function completionPage(view: CompletionView): Html {
  const { completion, round, position, paths } = view;
  const allHref = `${paths.page}?c=${completion.id}&all=1`;
  const limits = limitsOf(view.all);
  return html`<div class="completion" data-title="${position + 1} of ${round.length}">
    <div class="progress">
      <h1 tabindex="-1">Answer <strong>${position + 1} of ${round.length}</strong></h1>
      <p>${view.answered.size} reviewed</p>
      <div class="steps" aria-hidden="true">
        ${round.map((id, index) => {
          const state = index === position ? 'now' : view.answered.has(id) ? 'done' : 'open';
          return html`<span class="${state}"></span>`;
        })}
      </div>
    </div>
    ${view.issues.length > 0 && issuesView(view.issues)}
    <article aria-label="Conversation">
      <section aria-labelledby="input">
        <h2 id="input">Input</h2>
        ${conversationView(completion.input_data, limits, `${allHref}#input`)}
      </section>
      <section class="output" aria-labelledby="output">
        <h2 id="output">Output</h2>
        ${conversationView(completion.output_data, limits, `${allHref}#output`)}
        ${view.images.length > 0 && imagesView(view.images)}
      </section>
      ${view.all && html`<p class="more"><a class="button quiet" href="${paths.page}?c=${completion.id}" data-swap>Show less</a></p>`}
    </article>
    ${formView(view)}
  </div>`;
}

/** Images of our own are shown; others, which a reviewer's browser would have to fetch from elsewhere, are named. */
function imagesView(images: CompletionView['images']): Html {
  return html`<div class="images">
    ${images.map(({ src, url, label }) =>
      src === null
        ? html`<p class="elsewhere">Image on another server: <span class="text">${visibleText(url.slice(0, 500))}</span></p>`
        : html`<figure>
            <a href="${src}"
              ><img src="${src}" alt="${label === '' ? 'Image in this answer' : label}" loading="lazy" /></a
            >${label !== '' && html`<figcaption>${visibleText(label.slice(0, 300))}</figcaption>`}
          </figure>`,
    )}
  </div>`;
}

function formView(view: CompletionView): Html {
  const { paths, completion, values, round, position, textLimits } = view;
  const bad = (pointer: string) => view.issues.some((issue) => issue.pointer === pointer);
  return html`<form method="post" action="${paths.feedback}" class="verdict" aria-label="Your feedback">
    <input type="hidden" name="completion_id" value="${completion.id}" />
    ${view.formValue !== null && html`<input type="hidden" name="form" value="${view.formValue}" />`}
    ${view.reviewer === null && nameField(values.reviewer_name, textLimits.reviewer_name, bad('/reviewer_name'))}
    <fieldset>
      <legend>Is this a good answer?</legend>
      <div class="thumbs">
        ${thumbField('up', values.thumbs_up === true, bad('/thumbs_up'))}
        ${thumbField('down', values.thumbs_up === false, bad('/thumbs_up'))}
      </div>
    </fieldset>
    <div class="field">
      <label for="reason">Why? <span class="optional">optional</span></label>
      <textarea id="reason" name="reason" rows="2" maxlength="${textLimits.reason}" dir="auto">${textareaText(values.reason)}</textarea>
    </div>
    <div class="field">
      <label for="expected_output">A better answer <span class="optional">optional</span></label>
      <textarea
        id="expected_output"
        name="expected_output"
        rows="3"
        maxlength="${textLimits.expected_output}"
        dir="auto"
        aria-describedby="expected-hint"
      >${textareaText(values.expected_output)}</textarea>
      <p class="hint" id="expected-hint">What the answer should have been, in your own words.</p>
    </div>
    <button type="submit" class="button save">
      ${view.answered.has(completion.id) ? 'Save changes' : 'Save and continue'}
    </button>
    <nav aria-label="Answers">
      ${stepLink(paths, round[position - 1], 'prev', 'Previous')}
      ${stepLink(paths, round[position + 1], 'next', view.answered.has(completion.id) ? 'Next' : 'Skip')}
    </nav>
    <p class="keys">
      <span><kbd>U</kbd> good</span> <span><kbd>D</kbd> not good</span> <span><kbd>Enter</kbd> save</span>
      <span><kbd>N</kbd> next</span> <span><kbd>P</kbd> previous</span>
      <button type="button" id="keys-toggle" aria-pressed="true">Shortcuts on</button>
    </p>
  </form>`;
}

/** Browsers take one line break at the start for one of the markup. */
function textareaText(text: string): string {
  return `\n${text}`;
}

function nameField(name: string, maxLength: number, bad: boolean): Html {
  return html`<div class="field">
    <label for="reviewer_name">Your name</label>
    <input
      id="reviewer_name"
      name="reviewer_name"
      type="text"
      autocomplete="name"
      required
      maxlength="${maxLength}"
      value="${name}"
      aria-describedby="name-hint"
      ${bad && html` aria-invalid="true"`}
    />
    <p class="hint" id="name-hint">We ask for your name once, so the team knows whose feedback it is.</p>
  </div>`;
}

function thumbField(which: 'up' | 'down', checked: boolean, bad: boolean): Html {
  return html`<input
      type="radio"
      id="thumb-${which}"
      name="thumbs_up"
      value="${which === 'up' ? 'true' : 'false'}"
      required${checked && html` checked`}${bad && html` aria-invalid="true"`}
    /><label for="thumb-${which}" class="${which}">${thumb(which)} ${which === 'up' ? 'Good' : 'Not good'}</label>`;
}

function stepLink(paths: PagePaths, id: string | undefined, rel: 'prev' | 'next', label: string): Html {
  if (id === undefined) return html`<span></span>`;
  return html`<a class="button quiet" rel="${rel}" href="${paths.page}?c=${id}" data-swap>${label}</a>`;
}
