import { DomainError } from '../../engine/errors.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { Window } from '../../engine/schema/page.js';
import {
  isReservedTag,
  LATEST,
  type Dataset,
  type DatasetStore,
  type DatasetTag,
  type DatasetTagMove,
  type DatasetVersion,
} from './dataset.js';

/** Most tags that a dataset ever had. */
const MAX_TAGS = 1_000;

/** What finds datasets and their versions. */
interface Versions {
  /** @throws DomainError `not_found` */
  find(projectId: string, name: string): Dataset;
  /** @throws DomainError `not_found` */
  version(dataset: Dataset, ref: string): DatasetVersion;
}

/** Tags of datasets: names that point at versions, and where they pointed. Everything is inside the caller's project. */
export class DatasetTags {
  readonly #store: DatasetStore;
  readonly #versions: Versions;

  constructor(store: DatasetStore, versions: Versions) {
    this.#store = store;
    this.#versions = versions;
  }

  /** `latest` first, then by name. @throws DomainError `not_found` */
  list(projectId: string, name: string): DatasetTag[] {
    const { id, last_version } = this.#versions.find(projectId, name);
    const latest = last_version === 0 ? [] : [{ tag: LATEST, version_number: last_version }];
    return [...latest, ...this.#store.tags(id)];
  }

  /** @throws DomainError `not_found`; `conflict` for `latest`, and for a new tag beside too many */
  pin({ project_id, user_id }: Principal, name: string, { tag, version_number }: DatasetTag): DatasetTag {
    const dataset = this.#versions.find(project_id, name);
    requireMovable(tag);
    this.#versions.version(dataset, String(version_number));
    const pointed = this.#store.tag(dataset.id, tag);
    if (pointed === version_number) return { tag, version_number };
    if (pointed === undefined && this.#store.countTags(dataset.id) >= MAX_TAGS)
      throw new DomainError(
        'conflict',
        `A dataset can have at most ${MAX_TAGS} tags, including removed ones: move an existing tag`,
      );
    this.#store.moveTag(dataset.id, tag, version_number, Date.now() * 1000, user_id);
    return { tag, version_number };
  }

  /** @throws DomainError `not_found`; `conflict` for `latest` */
  remove({ project_id, user_id }: Principal, name: string, tag: string): void {
    const { id } = this.#versions.find(project_id, name);
    requireMovable(tag);
    if (this.#store.tag(id, tag) === undefined) throw noTag(tag);
    this.#store.moveTag(id, tag, null, Date.now() * 1000, user_id);
  }

  /** Newest first. @throws DomainError `not_found` */
  history(projectId: string, name: string, tag: string, window: Window): DatasetTagMove[] {
    const { id } = this.#versions.find(projectId, name);
    const moves = this.#store.tagMoves(id, tag, window);
    if (moves.length === 0 && window.offset === 0) throw noTag(tag);
    return moves;
  }
}

const noTag = (tag: string) => new DomainError('not_found', `The dataset has no tag ${tag}`);

function requireMovable(tag: string): void {
  if (isReservedTag(tag)) throw new DomainError('conflict', `The tag name ${tag} is reserved`);
}
