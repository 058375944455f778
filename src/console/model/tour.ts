/** What a newcomer does once, in this order: a tour of what the console is for. */
export const TOUR = [
  { name: 'trace', label: 'Send your first trace', about: 'A ready-made program, with a key created for you.' },
  { name: 'open', label: 'Open it', about: 'Every step as a tree: duration, cost, input and output.' },
  { name: 'prompt', label: 'Name a prompt', about: 'Compare, pin and measure its versions.' },
  {
    name: 'feedback',
    label: 'Give feedback',
    about: 'Rate an answer, and say what it should have been.',
  },
  { name: 'judge', label: 'Create a judge', about: 'A model that evaluates new answers by your instruction.' },
  {
    name: 'correct',
    label: 'Correct the judge',
    about: 'Mark its mistakes: it learns from them, and you see the impact.',
  },
] as const;

export type TourStep = (typeof TOUR)[number]['name'];

/** The first step that is not done; undefined: all are. */
export function nextStep(done: ReadonlySet<TourStep>): TourStep | undefined {
  return TOUR.find(({ name }) => !done.has(name))?.name;
}

/** Steps as they are kept in a browser. */
export const keptSteps = (done: ReadonlySet<TourStep>): string => [...done].join(' ');

/** What was kept; names that are no steps (anymore) are left out. */
export function stepsKept(text: string): ReadonlySet<TourStep> {
  const names = text.split(' ');
  return new Set(TOUR.filter(({ name }) => names.includes(name)).map(({ name }) => name));
}

/** Where a server listens that no one told anything else. */
const DEFAULT_URLS = ['http://127.0.0.1:4318', 'http://localhost:4318'];

/**
 * The command that loads the demo's data, in the folder of the server.
 * @param url of the server, without a slash at its end
 * @param isOnly whether the server has one project, so that the demo needs no key to find it
 */
export function demoCommand(url: string, isOnly: boolean): string {
  const options = [
    ...(DEFAULT_URLS.includes(url) ? [] : [`--url ${url}`]),
    ...(isOnly ? [] : ['--key "$SPANHOUSE_KEY"']),
  ];
  return ['npm run demo', ...(options.length > 0 ? ['--', ...options] : [])].join(' ');
}
