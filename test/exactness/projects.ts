import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { IdentityService } from '../../src/domain/identity/identity-service.js';
import { DATABASE_FILE, openDatabase } from '../../src/storage/sqlite/database.js';
import { SqliteIdentityStore } from '../../src/storage/sqlite/identity-store.js';

export interface ProjectMaker {
  make(): { readonly projectId: string; readonly key: string };
  close(): void;
}

/** Makes projects with a key each beside a running server, as `npm run admin` does. */
export function projectMaker(dataDir: string): ProjectMaker {
  const database = openDatabase(join(dataDir, DATABASE_FILE));
  const identity = new IdentityService({ store: new SqliteIdentityStore(database) });
  const { id: userId } = identity.createUser({ name: 'histories' });
  return {
    make() {
      const { id: projectId } = identity.createProject({ name: 'history', id: randomUUID() });
      const { key } = identity.createKey({ projectId, userId, name: 'history' });
      return { projectId, key };
    },
    close() {
      identity.close();
      database.close();
    },
  };
}
