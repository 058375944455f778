import { html, type Html } from '../../pages/html.js';
import { callsOf, formerNames, type Chapter } from '../chapters.js';
import { rendered, type Place } from '../markdown.js';
import { documentOf, type Frame } from './shell.js';

/** What people come to do first, each with what it is about in a few words. */
const FIRST_TASKS: readonly (readonly [name: string, words: string])[] = [
  ['send-traces', 'From curl, Python, TypeScript, OpenTelemetry or the AI SDK'],
  ['find-traces', 'Filter, search, and open it as a tree with its messages'],
  ['prompts', 'Numbered versions, and tags that you move'],
  ['feedback', 'From your application, or through links without an account'],
  ['judges', 'Models that pass, fail or score every new span'],
  ['operations', 'Limits, disks, health checks and overload'],
];

/** The start of the manual: what people come to do, then every chapter. */
export function startPage(frame: Frame, { address }: Place): string {
  const { base, groups } = frame;
  const all = groups.flatMap(({ chapters }) => chapters);
  const first = FIRST_TASKS.flatMap(([name, words]) =>
    all.filter((chapter) => chapter.name === name).map(({ title }) => ({ name, title, words })),
  );
  const intro = html`<p class="summary">
    Spanhouse stores traces, prompts and feedback of LLM applications. This server is at <code>${address}</code>.
  </p>`;
  const text = html`<div class="start">
    <ul class="tasks">
      ${first.map(
        ({ name, title, words }) =>
          html`<li>
            <a href="${base}/docs/${name}"><strong>${title}</strong> <span>${words}</span></a>
          </li>`,
      )}
    </ul>
    ${groups.map(
      ({ title, chapters }) => html`<section>
        <h2>${title}</h2>
        <ul class="all">
          ${chapters.map((chapter) => listed(chapter, base))}
        </ul>
      </section>`,
    )}
    <p class="note">
      For every call with its fields, see the <a href="${base}/docs/api">API reference</a>, or download the
      <a href="${base}/openapi.json">OpenAPI document</a>.
    </p>
  </div>`;
  const summary = 'How to send traces to Spanhouse, read them, improve prompts and judges, and run the server.';
  return documentOf(frame, { title: 'What do you want to do?', summary, current: null, headings: [], intro, text });
}

/** Old links to a chapter, `/docs#/Judges`, are led on by a script, which knows it by its former names. */
function listed({ name, title, summary }: Chapter, base: string): Html {
  const former = formerNames(name).join('|');
  return html`<li>
    <a href="${base}/docs/${name}" ${former !== '' && html`data-former="${former}"`}>${title}</a>
    <span>${summary}</span>
  </li>`;
}

export function chapterPage(frame: Frame, place: Place, chapter: Chapter): string {
  const { body, headings } = rendered(chapter.text, place);
  const { title, summary } = chapter;
  const intro = html`<div class="summary">${rendered(summary, place).body}</div>
    ${SHORT_FORMS.test(chapter.text) && shortForms(frame.base)}`;
  return documentOf(frame, {
    title,
    summary,
    current: chapter,
    headings,
    intro,
    text: html`${body} ${reference(chapter, frame.base)}`,
    after: neighbors(frame, chapter),
  });
}

/** Where the calls of a chapter are described field by field. */
function reference({ name }: Chapter, base: string): Html | null {
  const links = callsOf(name).map(
    (group) => html` <a href="${base}/docs/api#/${encodeURIComponent(group)}">${group}</a>`,
  );
  return links.length === 0
    ? null
    : html`<p class="reference">For every call and its fields, see${links} in the API reference.</p>`;
}

/** Commands that use the functions of the chapter about all calls. */
const SHORT_FORMS = /^```bash\n[^`]*\b(?:house|span) \//m;

const shortForms = (base: string) => html`<p class="needs">
  Commands on this page use the functions <code>house</code>, <code>span</code> and <code>pick</code>:
  <a href="${base}/docs/api-basics#define-the-shell-functions">define them once</a>.
</p>`;

function neighbors({ base, groups }: Frame, chapter: Chapter): Html {
  const all = groups.flatMap(({ chapters }) => chapters);
  const at = all.findIndex(({ name }) => name === chapter.name);
  const link = (other: Chapter | undefined, words: string, rel: string) =>
    other !== undefined &&
    html`<a rel="${rel}" href="${base}/docs/${other.name}"><span>${words}</span> <strong>${other.title}</strong></a>`;
  return html`<nav class="neighbors" aria-label="Next chapters">
    ${link(all[at - 1], 'Previous', 'prev')} ${link(all[at + 1], 'Next', 'next')}
  </nav>`;
}

/** For a chapter that does not exist. */
export function missingPage(frame: Frame): string {
  const intro = html`<p class="summary">
    Search the manual, or choose a chapter from the <a href="${frame.base}/docs">start page</a>.
  </p>`;
  return documentOf(frame, {
    title: 'This page does not exist',
    summary: 'No such page.',
    current: null,
    headings: [],
    intro,
  });
}
