/** Runs test files side by side, each in one of a few processes (test-worker.mjs). */
import { fork } from 'node:child_process';
import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './bootstrap.mjs';

const PROGRAM = fileURLToPath(new URL('test-worker.mjs', import.meta.url));
/** A process that has just started, and the loading of a file, may take so long on a busy machine. */
const BEGUN_WITHIN_MS = 60_000;

/** The name of a test file as a person knows it: test/http/object-keys.test.ts. */
export function nameOf(file) {
  return relative(join(root, 'dist'), file).startsWith('..')
    ? relative(root, file)
    : relative(join(root, 'dist'), file).replace(/\.js$/, '.ts');
}

export class TestFiles {
  passed = 0;
  pending = 0;
  /** Failures, each with its file and a text for a person. */
  failures = [];
  /** How long each file took, and how much processor time, where the system says that. */
  seconds = new Map();
  processorSeconds = new Map();
  #options;
  #idle = [];
  #workers = new Set();
  #folder = mkdtempSync(join(tmpdir(), 'spanhouse-tests-'));

  /**
   * @param options.grep titles to run, or with `invert` those not to
   * @param options.live output goes to the terminal as it comes: for one file alone
   * @param options.silentMs a process that has told nothing for so long hangs, unless its test may run longer
   */
  constructor(options) {
    this.#options = options;
    for (const signal of ['SIGINT', 'SIGTERM'])
      process.once(signal, () => {
        this.end();
        process.exit(signal === 'SIGINT' ? 130 : 143);
      });
  }

  /** Runs a file in a process that has nothing else to do, and prints all that it wrote in one piece. */
  async run(file) {
    const from = performance.now();
    const worker = this.#idle.pop() ?? this.#start();
    const { passed, pending, failures, output, processorSeconds } = await worker.run(file);
    const name = nameOf(file);
    this.passed += passed;
    this.pending += pending;
    this.failures.push(...failures.map((text) => ({ name, text })));
    this.seconds.set(name, (performance.now() - from) / 1000);
    this.processorSeconds.set(name, processorSeconds);
    const told = [output.replace(/^\s*\n/, '').trimEnd(), ...failures].filter((text) => text !== '');
    if (told.length > 0) console.log(['', name, ...told].join('\n'));
    if (worker.usable) this.#idle.push(worker);
    else worker.end();
    if (this.#options.bail && failures.length > 0) for (const other of this.#workers) other.abort();
  }

  /** Ends every process, and whatever it started. */
  end() {
    for (const worker of this.#workers) worker.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #start() {
    const worker = new Worker(join(this.#folder, `${this.#workers.size}.log`), this.#options, (failure) => {
      this.failures.push(failure);
    });
    this.#workers.add(worker);
    return worker;
  }
}

class Worker {
  usable = true;
  #options;
  #log;
  #shown = 0;
  #child;
  #onLost;
  /** The file that it runs, or ran last. */
  #job;

  /** @param onLost told of a process that ends when its file has ended already, as by an error that comes late */
  constructor(path, options, onLost) {
    this.#options = options;
    this.#onLost = onLost;
    // A file keeps the order of what the tests, mocha and their child processes write.
    this.#log = openSync(path, 'a+');
    this.#child = fork(PROGRAM, [JSON.stringify(options)], {
      cwd: root,
      env: options.color ? process.env : withoutColors(process.env),
      // Its own group: a hanging file is ended together with the programs it started.
      detached: true,
      stdio: options.live ? ['ignore', 'inherit', 'inherit', 'ipc'] : ['ignore', this.#log, this.#log, 'ipc'],
    });
    this.#child.on('message', (message) => this.#job?.told(message));
    this.#child.on('error', (error) => this.#gone(error.message));
    let how;
    // The process's last messages may arrive after `exit`, but never after `disconnect`.
    this.#child.on('disconnect', () => how !== undefined && this.#gone(how));
    this.#child.on('exit', (code, signal) => {
      how = signal ?? `exit code ${code}`;
      if (!this.#child.connected) this.#gone(how);
    });
  }

  run(file) {
    return new Promise((resolve) => {
      this.#job = new Job(nameOf(file), this.#options.silentMs, (failure) => {
        if (failure !== undefined) this.usable = false;
        resolve({ ...this.#job.result, output: this.#written() });
      });
      this.#child.send({ type: 'run', file }, () => undefined);
    });
  }

  abort() {
    if (this.usable && this.#child.connected) this.#child.send({ type: 'abort' });
  }

  end() {
    this.usable = false;
    try {
      process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // The process ended by itself.
    }
  }

  #gone(how) {
    if (this.#job?.ended === false) this.#job.lost(how);
    else if (this.usable) this.#onLost({ name: this.#job?.name, text: `  Its process ended after it (${how}).` });
    this.usable = false;
  }

  #written() {
    const bytes = Buffer.alloc(fstatSync(this.#log).size - this.#shown);
    readSync(this.#log, bytes, 0, bytes.length, this.#shown);
    this.#shown += bytes.length;
    if (!this.usable) closeSync(this.#log);
    return bytes.toString();
  }
}

/** Colors are taken to be wanted wherever CI is set, too. */
function withoutColors({ FORCE_COLOR: _forced, ...env }) {
  return { ...env, NO_COLOR: '1' };
}

/** The run of one test file, as its process reports it. */
class Job {
  ended = false;
  result = { passed: 0, pending: 0, failures: [], processorSeconds: 0 };
  #at = 'it was loaded';
  #silentMs;
  #silence;
  #done;

  constructor(name, silentMs, done) {
    this.name = name;
    this.#done = done;
    this.#silentMs = silentMs;
    this.#wait(Math.max(silentMs, BEGUN_WITHIN_MS));
  }

  #wait(milliseconds) {
    clearTimeout(this.#silence);
    const hangs = () => this.#fail(`hangs: nothing was heard of it for ${milliseconds / 1000} s. Last, ${this.#at}.`);
    this.#silence = setTimeout(hangs, milliseconds);
  }

  told(message) {
    if (this.ended) return;
    this.#silence.refresh();
    if (message.type === 'running') {
      this.#at = `this ran: ${message.title}`;
      // A test that blocks its process for as long as it may run is no hang.
      this.#wait(Math.max(this.#silentMs, message.limitMs));
    } else if (message.type === 'end') this.#ended(message);
    else if (message.type === 'pass') this.result.passed++;
    else if (message.type === 'pending') this.result.pending++;
    else if (message.type === 'fail') this.result.failures.push(message.text);
  }

  #ended({ left, processorSeconds }) {
    this.result.processorSeconds = processorSeconds;
    if (left.length > 0) this.#fail(`left something open: ${left.join(', ')}.`);
    else this.#end();
  }

  lost(how) {
    this.#fail(`ended its process (${how}). Last, ${this.#at}.`);
  }

  #fail(text) {
    this.result.failures.push(`  The file ${text}\n`);
    this.#end(text);
  }

  #end(failure) {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.#silence);
    this.#done(failure);
  }
}
