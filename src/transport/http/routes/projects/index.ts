import type { DeletionService } from '../../../../domain/deletion/deletion-service.js';
import type { ProjectService } from '../../../../domain/project/project-service.js';
import type { ProjectStorage } from '../../../../domain/project/project-storage.js';
import type { RetentionService } from '../../../../domain/retention/retention-service.js';
import type { Route } from '../../route.js';
import { deleteProjectRoute } from './delete-project.js';
import { getProjectRoute } from './get-project.js';
import { getRetentionRoute } from './get-retention.js';
import { getStorageRoute } from './get-storage.js';
import { updateProjectRoute } from './update-project.js';

export interface ProjectServices {
  readonly projects: ProjectService;
  readonly projectStorage: ProjectStorage;
  readonly retention: RetentionService;
  readonly deletions: DeletionService;
}

/** The project of a key: its name, what it stores and for how long, and its end. */
export function projectRoutes({ projects, projectStorage, retention, deletions }: ProjectServices): Route[] {
  return [
    getProjectRoute(projects),
    updateProjectRoute(projects),
    getStorageRoute(projectStorage),
    getRetentionRoute(retention),
    deleteProjectRoute(deletions),
  ];
}
