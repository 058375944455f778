import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { IdentityService } from '../../src/engine/identity/identity-service.js';
import { DATABASE_FILE, openDatabase } from '../../src/engine/metadata/database.js';
import { SqliteIdentityStore } from '../../src/engine/identity/store/identity-store.js';

export interface MadeProject {
  readonly projectId: string;
  readonly key: string;
  /** Whose key it is. */
  readonly userId: string;
}

export interface ProjectMaker {
  make(project?: { readonly name?: string; readonly id?: string }): MadeProject;
  close(): void;
}

/** Makes projects with a key each beside a running server, as `npm run admin` does in a process of its own. */
export function projectMaker(dataDir: string): ProjectMaker {
  const database = openDatabase(join(dataDir, DATABASE_FILE));
  const identity = new IdentityService({ store: new SqliteIdentityStore(database) });
  const { id: userId } = identity.listUsers()[0] ?? identity.createUser({ name: 'tests' });
  return {
    make({ name = 'test', id = randomUUID() } = {}) {
      const { id: projectId } = identity.createProject({ name, id });
      const { key } = identity.createKey({ projectId, userId, name });
      return { projectId, key, userId };
    },
    close() {
      identity.close();
      database.close();
    },
  };
}

/** As {@link projectMaker}, for one project. */
export function makeProject(dataDir: string, project?: Parameters<ProjectMaker['make']>[0]): MadeProject {
  const maker = projectMaker(dataDir);
  try {
    return maker.make(project);
  } finally {
    maker.close();
  }
}
