import BetterSqlite3 from 'better-sqlite3';
import type { PriceStore } from '../features/prices/price-store.js';
import type { PromptNames } from '../engine/traces/model/span/named-prompt.js';
import { BUSY_TIMEOUT_MS } from '../engine/metadata/database.js';
import { metadataFile } from './metadata-store.js';
import type { MaskingStore } from '../features/masking/rule.js';
import { SqliteMaskingStore } from '../features/masking/store/masking-store.js';
import { SqlitePriceStore } from '../features/prices/store/price-store.js';
import type { DefinitionStore } from '../features/scores/definition.js';
import { SqliteDefinitionStore } from '../features/scores/store/definition-store.js';
import { SqlitePromptIdentities } from '../features/prompts/store/prompt-identities.js';

/** What spans are described by. */
export interface MetadataReader {
  readonly prices: Pick<PriceStore, 'changeCounter' | 'list'>;
  readonly prompts: PromptNames;
  readonly masking: Pick<MaskingStore, 'find'>;
  readonly scoreDefinitions: Pick<DefinitionStore, 'find' | 'count'>;
}

/**
 * Reads the metadata of a `DATA_DIR` on a connection of its own, beside the server's: what that has committed, each later read
 * sees. It stays open until the thread ends.
 * @throws SqliteError
 */
export function openMetadataReader(dataDir: string): MetadataReader {
  const database = new BetterSqlite3(metadataFile(dataDir), {
    readonly: true,
    fileMustExist: true,
    timeout: BUSY_TIMEOUT_MS,
  });
  return {
    prices: new SqlitePriceStore(database),
    prompts: new SqlitePromptIdentities(database),
    masking: new SqliteMaskingStore(database),
    scoreDefinitions: new SqliteDefinitionStore(database),
  };
}
