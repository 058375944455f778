/**
 * A process that runs test files for test-files.mjs, one after the other, and tells it what became of each test. Modules
 * are loaded once for all of them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { format } from 'node:util';
import Mocha from 'mocha';
import { root } from './bootstrap.mjs';

const BEAT_MS = 1_000;
/** Time after which everything that a test file opened must be closed: sockets and processes take a moment to end. */
const CLOSED_WITHIN_MS = 15_000;
/** A test's own limit is what ends it when it hangs, on a machine that has nothing else to do; this is for others. */
const LIMIT_TIMES = 4;
/** Of a process, as Linux counts processor time. */
const STAT = '/proc/self/stat';
const TICKS_PER_SECOND = 100;
const { Base, Spec } = Mocha.reporters;
const { grep, invert, bail, color, silentMs } = JSON.parse(process.argv[2] ?? '{}');
let mine;
let running = null;

process.on('message', ({ type, file }) => {
  if (type === 'abort') running?.abort();
  else void runFile(file);
});
// Whoever would read the results is gone.
process.on('disconnect', () => process.exit(1));
tell({ type: 'ready' });

async function runFile(file) {
  // The channel to the parent, among others.
  mine ??= await open();
  const from = processorSeconds();
  const beat = setInterval(() => tell({ type: 'beat' }), BEAT_MS).unref();
  const options = JSON.parse(readFileSync(join(root, '.mocharc.json'), 'utf8'));
  const mocha = new Mocha({ ...options, reporter: Teller, forbidOnly: Boolean(process.env.CI), bail, color });
  if (grep !== undefined) mocha.grep(grep);
  if (invert) mocha.invert();
  mocha.addFile(file);
  try {
    await mocha.loadFilesAsync();
    await new Promise((done) => (running = mocha.run(done)));
    running.dispose();
    running = null;
    await end(from);
  } catch (error) {
    tell({ type: 'fail', text: `  The file could not be loaded:\n${error.stack}\n` });
    await end(from);
  }
  clearInterval(beat);
}

async function end(from) {
  const left = await leftOpen();
  tell({ type: 'end', left, processorSeconds: processorSeconds() - from });
}

/** What this process has used, and those that it started and that have ended; 0 where the system does not say. */
function processorSeconds() {
  if (!existsSync(STAT)) return 0;
  const [, fields] = readFileSync(STAT, 'utf8').split(') ');
  const [user, system, ofUsers, ofSystems] = fields.split(' ').slice(11).map(Number);
  return (user + system + ofUsers + ofSystems) / TICKS_PER_SECOND;
}

/** The spec reporter, but for its end: failures are told, to be repeated after all files. */
class Teller extends Spec {
  #failed = 0;
  /** Limits as they were set, of tests and hooks: some hooks run again and again. */
  #limits = new Map();

  constructor(runner, options) {
    super(runner, options);
    runner.on('test', (test) => this.#begins(test, test.fullTitle()));
    runner.on('hook', (hook) => this.#begins(hook, `${hook.title} of ${hook.parent.fullTitle()}`));
    runner.on('pass', () => tell({ type: 'pass' }));
    runner.on('pending', () => tell({ type: 'pending' }));
    runner.on('fail', (test) => tell({ type: 'fail', text: this.#listed(test) }));
  }

  epilogue() {
    // Said by whoever runs the files.
  }

  #begins(runnable, title) {
    if (!this.#limits.has(runnable)) this.#limits.set(runnable, runnable.timeout());
    const limitMs = this.#limits.get(runnable) * LIMIT_TIMES;
    runnable.timeout(limitMs);
    tell({ type: 'running', title, limitMs });
  }

  /** The failure as mocha lists it, under the number that it has in the output above. */
  #listed(test) {
    const list = [];
    list[this.#failed++] = test;
    const lines = [];
    const log = Base.consoleLog;
    Base.consoleLog = (...parts) => lines.push(format(...parts));
    try {
      Base.list(list);
    } finally {
      Base.consoleLog = log;
    }
    return lines.join('\n');
  }
}

/** Handles that a test file left open, a defect of the test that would keep its process alive. Waits a while for them to close. */
async function leftOpen() {
  const until = Date.now() + Math.min(CLOSED_WITHIN_MS, silentMs);
  for (;;) {
    const left = await open();
    for (const resource of mine) if (left.includes(resource)) left.splice(left.indexOf(resource), 1);
    if (left.length === 0 || Date.now() > until) return left;
    await sleep(20);
  }
}

/** Asked from one place in the event loop, so that two answers can be compared. */
async function open() {
  await sleep(1);
  return process.getActiveResourcesInfo();
}

function tell(message) {
  if (process.connected) process.send(message);
}
