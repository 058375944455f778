/** What the manual can do with a script: search, tabs, copying, themes, and old links. Without it, everything can be read. */
const { search: searchUrl, docs } = document.documentElement.dataset;

/** An element with attributes and children; texts stay texts. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Leads links of earlier versions on: `/docs#/Judges` to the chapter, `/docs#/Judges/createJudge` to the call. */
function followFormerLink() {
  const former = /^#\/([^/]+)(\/[^/]+)?$/.exec(location.hash);
  if (former === null || location.pathname.replace(/\/$/, '') !== docs) return;
  const name = decoded(former[1]).replaceAll('_', ' ');
  const links = [...document.querySelectorAll('a[data-former]')];
  const chapter = links.find((link) => link.dataset.former.split('|').includes(name));
  location.replace(former[2] === undefined && chapter !== undefined ? chapter.href : `${docs}/api${location.hash}`);
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Browsers may keep pages from storing anything. */
function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // It holds for this page, then.
  }
}

const THEMES = { system: 'System theme', light: 'Light theme', dark: 'Dark theme' };

function offerThemes() {
  const root = document.documentElement;
  const select = element(
    'select',
    { 'aria-label': 'Theme' },
    ...Object.entries(THEMES).map(([value, label]) => element('option', { value }, label)),
  );
  select.value = root.dataset.theme ?? 'system';
  select.addEventListener('change', () => {
    if (select.value === 'system') delete root.dataset.theme;
    else root.dataset.theme = select.value;
    keep('spanhouse.theme', select.value);
  });
  document.querySelector('#theme')?.append(select);
}

/** Ways to do one thing, of which one is shown: the one that the reader chose last, on any page. */
function makeTabs() {
  const groups = [...document.querySelectorAll('.tabs')].map((box, at) => tabsOf(box, at));
  const choose = (title) => {
    for (const tabs of groups) if (tabs.some((tab) => tab.title === title)) tabs.forEach((tab) => tab.show(title));
  };
  for (const tabs of groups) {
    tabs.forEach((tab) => tab.show(tabs[0].title));
    tabs.forEach(({ button, title }, at) => {
      button.addEventListener('click', () => {
        choose(title);
        keep('spanhouse.manual.tab', title);
      });
      button.addEventListener('keydown', ({ key }) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
        if (step === undefined) return;
        const next = tabs[(at + step + tabs.length) % tabs.length];
        next.button.focus();
        next.button.click();
      });
    });
  }
  choose(kept('spanhouse.manual.tab'));
}

function tabsOf(box, group) {
  const list = element('div', { role: 'tablist', 'aria-label': 'Ways to do it' });
  const tabs = [...box.querySelectorAll(':scope > .tab')].map((panel, at) => {
    const { tab: title } = panel.dataset;
    const id = `tab-${group}-${at}`;
    const button = element('button', { type: 'button', role: 'tab', id, 'aria-controls': `${id}-panel` }, title);
    panel.id = `${id}-panel`;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', id);
    list.append(button);
    const show = (chosen) => {
      panel.classList.toggle('is-hidden', title !== chosen);
      button.setAttribute('aria-selected', String(title === chosen));
      button.tabIndex = title === chosen ? 0 : -1;
    };
    return { title, button, show };
  });
  box.prepend(list);
  box.classList.add('is-live');
  return tabs;
}

/** Browsers allow it on https and localhost only. */
function offerCopying() {
  if (navigator.clipboard === undefined) return;
  for (const box of document.querySelectorAll('.code')) {
    const button = element('button', { type: 'button', class: 'copy' }, 'Copy');
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(box.querySelector('code').textContent);
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), 2000);
    });
    box.append(button);
  }
}

/** Shows in the list of chapters which one is read, and in the contents which section. */
function followReading() {
  document.querySelector('.chapters [aria-current]')?.scrollIntoView({ block: 'nearest' });
  const links = new Map(
    [...document.querySelectorAll('.contents a')].map((link) => [decoded(link.hash.slice(1)), link]),
  );
  const headings = [...links.keys()].map((id) => document.getElementById(id)).filter((heading) => heading !== null);
  const mark = () => {
    const read = headings.findLast((heading) => heading.getBoundingClientRect().top < 140);
    for (const [id, link] of links)
      if (id === read?.id) link.setAttribute('aria-current', 'location');
      else link.removeAttribute('aria-current');
  };
  addEventListener('scroll', mark, { passive: true });
  mark();
}

const MOST_FOUND = 12;
const AROUND = 70;

function offerSearch() {
  const input = element('input', {
    type: 'search',
    placeholder: 'Search the manual',
    'aria-label': 'Search the manual',
    role: 'combobox',
    'aria-expanded': 'false',
    'aria-controls': 'found',
    'aria-autocomplete': 'list',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const list = element('div', { id: 'found', role: 'listbox', 'aria-label': 'Sections found' });
  const count = element('p', { class: 'unseen', role: 'status' });
  const box = document.querySelector('#search');
  box?.append(input, element('kbd', { 'aria-hidden': 'true' }, '/'), list, count);
  let sections;
  let chosen = -1;
  const options = () => [...list.querySelectorAll('a')];
  const choose = (at) => {
    const all = options();
    chosen = all.length === 0 ? -1 : (at + all.length) % all.length;
    all.forEach((option, index) => option.setAttribute('aria-selected', String(index === chosen)));
    if (chosen >= 0) input.setAttribute('aria-activedescendant', all[chosen].id);
    else input.removeAttribute('aria-activedescendant');
    all[chosen]?.scrollIntoView({ block: 'nearest' });
  };
  const show = async () => {
    const words = wordsOf(input.value);
    sections ??= fetchSections();
    const all = await sections.catch(() => null);
    // The next word asks again.
    if (all === null) sections = undefined;
    const found = words.length === 0 || all === null ? [] : find(all, words);
    if (words.join() !== wordsOf(input.value).join()) return;
    list.replaceChildren(...found.map((section, at) => optionOf(section, at, words)));
    if (words.length > 0 && found.length === 0) {
      const none = all === null ? 'The search is not available. Try again.' : 'No section has all of these words.';
      list.append(element('p', { role: 'option', class: 'none', 'aria-disabled': 'true' }, none));
    }
    input.setAttribute('aria-expanded', String(found.length > 0));
    count.textContent = words.length === 0 ? '' : `${found.length} sections found`;
    choose(found.length === 0 ? -1 : 0);
  };
  const close = () => {
    list.replaceChildren();
    input.setAttribute('aria-expanded', 'false');
    count.textContent = '';
    choose(-1);
  };
  input.addEventListener('input', show);
  input.addEventListener('focus', show);
  box?.addEventListener('focusout', ({ relatedTarget }) => {
    if (!box.contains(relatedTarget)) close();
  });
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) choose(chosen + step);
    else if (event.key === 'Enter') options()[chosen]?.click();
    else if (event.key === 'Escape') {
      input.value = '';
      close();
    } else return;
    event.preventDefault();
  });
  addEventListener('keydown', (event) => {
    const typing = event.target.closest('input, textarea, select') !== null;
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });
  list.addEventListener('click', ({ target }) => {
    // A link within the page does not close it by leaving.
    if (target.closest('a') !== null) setTimeout(close);
  });
}

async function fetchSections() {
  const response = await fetch(searchUrl);
  if (!response.ok) throw new Error(`The search index was answered ${response.status}`);
  return response.json();
}

function wordsOf(text) {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** Sections that have every word, those first that have them in their heading. */
function find(sections, words) {
  const scored = sections.map((section) => {
    const [heading, title, text] = [section.heading, section.title, section.text].map((part) => part.toLowerCase());
    let score = 0;
    for (const word of words) {
      const part = hits(heading, word) * 8 + hits(title, word) * 4 + hits(text, word);
      if (part === 0) return { section, score: 0 };
      score += part;
    }
    if (text.includes(words.join(' '))) score += 5;
    // What changed in some version is seldom what is looked for.
    return { section, score: section.page === 'changes' ? 0.5 : score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST_FOUND)
    .map(({ section }) => section);
}

/** How well a text has a word: 1 where one of its words begins so. */
function hits(text, word) {
  const at = text.indexOf(word);
  if (at < 0) return 0;
  return at === 0 || text.includes(` ${word}`) || !/[a-z0-9]/.test(text[at - 1]) ? 1 : 0.3;
}

function optionOf({ page, title, heading, anchor, text }, at, words) {
  const href = `${docs}/${page}${anchor === '' ? '' : `#${anchor}`}`;
  return element(
    'a',
    { role: 'option', id: `found-${at}`, href, tabindex: '-1', 'aria-selected': 'false' },
    element('strong', {}, ...marked(heading === '' ? title : `${title}: ${heading}`, words)),
    element('span', {}, ...marked(around(text, words), words)),
  );
}

/** The part of a text around the first of the words. */
function around(text, words) {
  const lower = text.toLowerCase();
  const at = Math.min(...words.map((word) => lower.indexOf(word)).filter((index) => index >= 0), text.length);
  const from = at === text.length || at < AROUND ? 0 : text.indexOf(' ', at - AROUND) + 1;
  const until = from + 3 * AROUND;
  return `${from > 0 ? '… ' : ''}${text.slice(from, until)}${until < text.length ? ' …' : ''}`;
}

/** The text with the words marked in it. */
function marked(text, words) {
  const parts = [];
  const lower = text.toLowerCase();
  let at = 0;
  while (at < text.length) {
    const hits = words.map((word) => ({ word, index: lower.indexOf(word, at) })).filter(({ index }) => index >= 0);
    if (hits.length === 0) break;
    const { word, index } = hits.reduce((first, hit) => (hit.index < first.index ? hit : first));
    parts.push(text.slice(at, index), element('mark', {}, text.slice(index, index + word.length)));
    at = index + word.length;
  }
  return [...parts, text.slice(at)];
}

followFormerLink();
offerThemes();
makeTabs();
offerCopying();
followReading();
offerSearch();
