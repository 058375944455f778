import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { pageHeaders } from '../../src/console/page.js';
import { packageRoot } from '../../src/engine/files/schema-files.js';
import { chapter } from './commands.js';

const root = packageRoot();
/** The requirements of OWASP ASVS 4.0.3 up to level 2, chapters 2 to 14: the last one of each section, and which it leaves out. */
const SECTIONS: Readonly<Record<string, readonly [last: number, ...without: number[]]>> = {
  ...{ 2.1: [12], 2.2: [3], 2.3: [3], 2.4: [5], 2.5: [7], 2.6: [3], 2.7: [6], 2.8: [7], 2.9: [3], '2.10': [4] },
  ...{ 3.1: [1], 3.2: [4], 3.3: [4], 3.4: [5], 3.5: [3], 3.7: [1], 4.1: [5, 4], 4.2: [2], 4.3: [3] },
  ...{ 5.1: [5], 5.2: [8], 5.3: [10], 5.4: [3], 5.5: [4], 6.1: [3], 6.2: [6], 6.3: [2], 6.4: [2] },
  ...{ 7.1: [4], 7.2: [2], 7.3: [4, 2], 7.4: [3], 8.1: [4], 8.2: [3], 8.3: [8], 9.1: [3], 9.2: [4] },
  ...{ 10.2: [2], 10.3: [3], 11.1: [8], 12.1: [3], 12.2: [1], 12.3: [6], 12.4: [2], 12.5: [2], 12.6: [1] },
  ...{ 13.1: [5, 2], 13.2: [6, 4], 13.3: [2], 13.4: [2], 14.1: [4], 14.2: [6], 14.3: [3, 1], 14.4: [7], 14.5: [4] },
};
const REQUIREMENTS = Object.entries(SECTIONS).flatMap(([section, [last, ...without]]) =>
  Array.from({ length: last }, (_, index) => index + 1)
    .filter((number) => !without.includes(number))
    .map((number) => `${section}.${number}`),
);
const STATES = ['met', 'partly', 'operator', 'not met', 'none here'];

/** What each row of the table says. */
const rows = (chapter('asvs').match(/^\| \d.*$/gm) ?? []).map((row) => {
  const [numbers = '', state = '', how = '', tests = ''] = row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
  return { requirements: numbers.split(', ').flatMap(numbered), state, how, tests: [...named(tests)] };
});

/** Such as `2.1.1–12`, which leaves out what there is not. */
function numbered(text: string): string[] {
  const [, section = '', from = '', to = from] = /^(\d+\.\d+)\.(\d+)(?:–(\d+))?$/.exec(text) ?? [];
  const within = (number: number) => number >= Number(from) && number <= Number(to);
  return REQUIREMENTS.filter((one) => one.startsWith(`${section}.`) && within(Number(one.split('.')[2])));
}

/** Tests as `folder/file`: title; `folder/file`: title. */
function* named(cell: string): Generator<readonly [file: string, title: string]> {
  for (const [, file = '', title = ''] of cell.matchAll(/`([\w/-]+)`: ([^;]+)/g)) yield [file, title.trim()];
}

function sources(): Map<string, string> {
  const folder = join(root, 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
  return new Map(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}

describe('the table of OWASP ASVS', () => {
  it('has every requirement once, with a state that there is, and how', () => {
    expect(rows.flatMap(({ requirements }) => requirements).sort()).to.deep.equal([...REQUIREMENTS].sort());
    for (const { requirements, state, how } of rows) {
      expect(STATES, requirements.join()).to.include(state);
      expect(how, requirements.join()).not.to.equal('');
    }
  });

  it('names a test for everything that is met, and tests that there are', () => {
    for (const { requirements, state, tests } of rows)
      if (state === 'met') expect(tests, requirements.join()).not.to.be.empty;
    for (const [file, title] of rows.flatMap(({ tests }) => tests)) {
      const path = join(root, 'test', `${file}.test.ts`);
      expect(existsSync(path), path).to.equal(true);
      const [source, quoted] = [readFileSync(path, 'utf8'), title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')];
      expect(source, `${file}: ${title}`).to.match(new RegExp(`\\bit\\(\\s*(['"\`])${quoted}\\1`));
    }
  });
});

describe('the source of the server', () => {
  it('runs no code that is made of texts, and starts no shell', () => {
    for (const [file, text] of sources()) {
      expect(text, file).not.to.match(/\beval\(|new Function\(|from 'node:vm'|shell: true/);
      for (const [, imported = ''] of text.matchAll(/import (.*) from 'node:child_process'/g))
        expect(imported, file).to.match(/^(type )?\{ ((type )?(fork|ChildProcess)(, )?)+ \}$/);
    }
  });

  it('switches off no check of certificates', () => {
    for (const [file, text] of sources())
      expect(text, file).not.to.match(/rejectUnauthorized|NODE_TLS_REJECT_UNAUTHORIZED|checkServerIdentity/);
  });

  it('asks browsers for no camera, microphone or location', () => {
    const bundle = { manifest: { console: '', theme: '', worker: '', style: '', preload: [] }, file: () => undefined };
    expect(pageHeaders(bundle, null)['Permissions-Policy']).to.equal('camera=(), geolocation=(), microphone=()');
  });
});
