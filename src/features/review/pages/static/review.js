/**
 * Makes the page of a feedback link better where scripts run: no page loads, keys, and word of every step for screen
 * readers. The server alone renders; this only puts what it answers in place. Without it every link and form works too.
 */
const main = document.getElementById('main');
const live = document.getElementById('live');
const aside = document.getElementById('aside');
const KEYS_OFF = 'spanhouse-keys-off';
let working = false;

document.documentElement.classList.add('js');
showKeys();

document.addEventListener('click', (event) => {
  const target = event.target instanceof Element ? event.target : null;
  if (target?.id === 'keys-toggle') {
    sessionStorage.setItem(KEYS_OFF, keysAreOn() ? '1' : '');
    showKeys();
    return;
  }
  const link = target?.closest('a[data-swap]');
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !plain) return;
  event.preventDefault();
  void load(link.href);
});

document.addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.target;
  void load(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) });
});

// A verdict that was chosen is no longer wrong.
document.addEventListener('input', (event) => event.target.removeAttribute?.('aria-invalid'));

window.addEventListener('popstate', () => void load(location.href, { keepHistory: true }));

document.addEventListener('keydown', (event) => {
  const { target, key } = event;
  const writing = target instanceof HTMLElement && target.matches('textarea, input:not([type=radio])');
  if (key === 'Enter' && (event.ctrlKey || event.metaKey) && target.form) {
    event.preventDefault();
    target.form.requestSubmit();
    return;
  }
  if (writing || event.ctrlKey || event.metaKey || event.altKey || !keysAreOn()) return;
  const action = KEYS[key.length === 1 ? key.toLowerCase() : key];
  if (action && action(target) !== false) event.preventDefault();
});

/** What a key does; false: nothing, so that it does what it always does. */
const KEYS = {
  u: () => choose('thumb-up'),
  d: () => choose('thumb-down'),
  n: () => follow('next'),
  p: () => follow('prev'),
  ArrowRight: (target) => (target.matches?.('input') ? false : follow('next')),
  ArrowLeft: (target) => (target.matches?.('input') ? false : follow('prev')),
  r: () => focusOn('reason'),
  e: () => focusOn('expected_output'),
  Enter: (target) => (target.closest?.('a, button, summary') ? false : submit()),
};

function choose(id) {
  const radio = document.getElementById(id);
  if (!radio) return false;
  radio.checked = true;
  radio.focus();
  radio.dispatchEvent(new Event('input', { bubbles: true }));
}

function follow(rel) {
  const link = main.querySelector(`a[rel=${rel}]`);
  if (!link) return false;
  link.click();
}

function focusOn(id) {
  const field = document.getElementById(id);
  if (!field) return false;
  field.focus();
}

function submit() {
  const form = main.querySelector('form');
  if (!form) return false;
  form.requestSubmit();
}

function keysAreOn() {
  return sessionStorage.getItem(KEYS_OFF) !== '1';
}

function showKeys() {
  const toggle = document.getElementById('keys-toggle');
  if (!toggle) return;
  toggle.setAttribute('aria-pressed', String(keysAreOn()));
  toggle.textContent = keysAreOn() ? 'Shortcuts on' : 'Shortcuts off';
}

/** Asks the server for a page and shows it. One at a time: a second press of a key does not send twice. */
async function load(url, { keepHistory = false, ...request } = {}) {
  if (working) return;
  working = true;
  main.setAttribute('aria-busy', 'true');
  try {
    const response = await fetch(url, { ...request, headers: { Accept: 'text/html' }, credentials: 'same-origin' });
    show(new DOMParser().parseFromString(await response.text(), 'text/html'), new URL(url).hash);
    // What was refused is no place to come back to.
    if (!keepHistory && response.ok) {
      const shown = new URL(response.url);
      shown.hash = new URL(url).hash;
      history.pushState(null, '', shown);
    }
  } catch {
    complain('Cannot reach the server. Your feedback is still here: try again.');
  } finally {
    working = false;
    main.removeAttribute('aria-busy');
  }
}

function show(page, hash) {
  const next = page.getElementById('main');
  if (!next) throw new Error('no page');
  main.replaceChildren(...document.importNode(next, true).childNodes);
  aside.replaceChildren(...document.importNode(page.getElementById('aside') ?? aside, true).childNodes);
  document.title = page.title;
  showKeys();
  const section = hash ? document.getElementById(hash.slice(1)) : null;
  if (section) section.scrollIntoView();
  else window.scrollTo({ top: 0 });
  const problem = main.querySelector('[role=alert]');
  const invalid = main.querySelector('[aria-invalid=true]');
  (invalid ?? main.querySelector('h1') ?? main).focus({ preventScroll: true });
  if (problem) problem.scrollIntoView();
  live.textContent = main.querySelector('[data-title]')?.dataset.title ?? page.title;
}

function complain(text) {
  const place = main.querySelector('.problem') ?? document.createElement('div');
  place.className = 'problem';
  place.setAttribute('role', 'alert');
  place.textContent = text;
  main.prepend(place);
  place.scrollIntoView();
}
