import { randomBytes } from 'node:crypto';
import { guarded, type Database } from './database.js';

/** A random secret of 32 bytes, made when it is first asked for and the same from then on. */
export function readSecret(db: Database, name: string): Buffer {
  return guarded(() => {
    db.prepare<[string, Buffer]>('INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING').run(
      name,
      randomBytes(32),
    );
    const value = db.prepare<[string], Buffer>('SELECT value FROM secrets WHERE name = ?').pluck().get(name);
    if (value === undefined) throw new Error(`The secret ${name} was just written`);
    return value;
  });
}
