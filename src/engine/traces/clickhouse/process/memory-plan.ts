const MIB = 1024 * 1024;

/** Settings that are asked of the engine at open, by their names in `system.server_settings`. */
export type ServerSettings = Readonly<Record<string, number>>;

/**
 * Shares `memoryMb` out. The engine's defaults are meant for a machine of its own (5 GiB per cache, 0.9 of RAM), and it
 * ignores arguments it does not know, so what took effect must be checked with {@link unmetSettings}.
 */
export function serverSettings(memoryMb: number): ServerSettings {
  const share = (part: number, atMostMb: number): number => Math.round(Math.min(memoryMb * part, atMostMb) * MIB);
  return {
    max_server_memory_usage: Math.round(memoryMb * MIB),
    mark_cache_size: share(0.05, 512),
    primary_index_cache_size: share(0.02, 128),
    index_mark_cache_size: share(0.01, 64),
    index_uncompressed_cache_size: share(0.01, 64),
    // The operating system's page cache already holds the compressed data.
    uncompressed_cache_size: 0,
    // No statement uses it, see clickhouse/client/client.ts.
    query_condition_cache_size: 0,
    text_index_tokens_cache_size: share(0.01, 32),
    text_index_header_cache_size: share(0.01, 32),
    text_index_postings_cache_size: share(0.02, 64),
    vector_similarity_index_cache_size: 0,
    unique_key_index_cache_size_bytes: 0,
    parquet_metadata_cache_size: 0,
    iceberg_metadata_files_cache_size: 0,
    compiled_expression_cache_size: share(0.01, 32),
    mmap_cache_size: 0,
    // Merges run beside queries on the same few cores.
    background_pool_size: 2,
    background_merges_mutations_concurrency_ratio: 2,
    merges_mutations_memory_usage_soft_limit: share(0.4, Number.MAX_SAFE_INTEGER / MIB),
  };
}

/** The settings in the command-line form that chDB takes at open. */
export function connectionArguments(settings: ServerSettings): string[] {
  return Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
}

/** The settings that did not take effect, worded for a log; empty when all did. */
export function unmetSettings(wanted: ServerSettings, actual: ReadonlyMap<string, string>): string[] {
  return Object.entries(wanted)
    .filter(([name, value]) => Number(actual.get(name)) !== value)
    .map(([name, value]) => `${name} is ${actual.get(name) ?? 'unknown to the engine'}, not ${value}`);
}
