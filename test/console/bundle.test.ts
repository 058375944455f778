import { readdirSync, readFileSync, statSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';

const FOLDER = new URL('../../console/', import.meta.url);

/** Bytes of files as they are sent, in KB. */
function sent(names: Iterable<string>): number {
  return [...names].reduce((sum, name) => sum + statSync(new URL(`${name}.gz`, FOLDER)).size, 0) / 1000;
}

/** A script and what it imports at once. */
function loadedWith(name: string, found = new Set<string>()): Set<string> {
  found.add(name);
  const script = gunzipSync(readFileSync(new URL(`${name}.gz`, FOLDER))).toString('utf8');
  for (const [, imported = ''] of script.matchAll(/(?:from|import)"\.\/([\w.-]+\.js)"/g))
    if (!found.has(imported)) loadedWith(imported, found);
  return found;
}

describe('what the console loads', () => {
  const files = readdirSync(FOLDER).map((file) => file.replace(/\.gz$/, ''));
  const named = (start: string) => files.find((name) => name.startsWith(start) && name.endsWith('.js')) ?? start;

  it('is small', () => {
    const first = loadedWith(named('console-'));
    expect(sent(first), 'first').to.be.below(50.5);
    // Of what all screens share, experiments took a kilobyte: two icons, parts that datasets and they have in common, and what
    // they and judges ask of each other.
    // What each change needs of a role, and why it is refused, took a tenth of one.
    // Comments and sharing are a chunk of their own; what loads them, and parts that dashboards share, took half a kilobyte.
    expect(sent(loadedWith(named('trace-'), new Set(first))), 'with the trace view').to.be.below(97);
    const scripts = files.filter((name) => name.endsWith('.js'));
    const playground = scripts.filter((name) => name.startsWith('playground-'));
    expect(playground).to.have.length(1);
    // The bar is for the screens that show what is stored; the playground, which makes more, has one of its own.
    // Experiments and comparisons are 19 KB of it, a chunk of their own; messages of prompts, exports and erased rows took one,
    // deletions by filters, scheduled exports and scopes of keys four; monitors and webhooks are five in a chunk of their own, masking
    // rules and the audit log two each; roles and people two; comments, share links and the page of a shared trace six; dashboards and
    // saved views seven in a chunk of their own.
    expect(sent(scripts) - sent(playground), 'all that show').to.be.below(239);
    expect(sent(playground), 'the playground').to.be.below(10);
    expect(sent(files.filter((name) => name.endsWith('.css'))), 'styles').to.be.below(20);
  });
});
