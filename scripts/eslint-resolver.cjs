/**
 * Tells the rule of rooms which file an import means: sources are TypeScript, but name each other with `.js`, as Node.js
 * wants it. (The resolver package for TypeScript would bring native binaries for this one replacement.)
 */
'use strict';
const { existsSync } = require('node:fs');
const { builtinModules, createRequire } = require('node:module');
const { dirname, resolve } = require('node:path');

exports.interfaceVersion = 2;

exports.resolve = (source, file) => {
  if (source.startsWith('node:') || builtinModules.includes(source)) return { found: true, path: null };
  if (source.startsWith('.')) {
    const path = resolve(dirname(file), source);
    const written = ['.ts', '.tsx'].map((ending) => path.replace(/\.js$/, ending));
    // A file that does not exist still lies in a room, and that is all the rule asks.
    return { found: true, path: [path, ...written].find((candidate) => existsSync(candidate)) ?? written[0] };
  }
  try {
    return { found: true, path: createRequire(file).resolve(source) };
  } catch {
    return { found: false };
  }
};
