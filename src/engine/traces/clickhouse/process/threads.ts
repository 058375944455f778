/** Connections of the engine process by purpose; each running statement occupies a thread of libuv. */
export const READERS = 6;
export const COMMANDERS = 3;
export const WRITERS = 3;

/** UV_THREADPOOL_SIZE of the engine process: all connections at once, the probe's, and four for node's own work. */
export const THREADS = READERS + COMMANDERS + WRITERS + 1 + 4;
