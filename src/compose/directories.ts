/** Folders of `DATA_DIR`. */
export const ENGINE_DIRECTORY = 'clickhouse';

/** Of the write-ahead log. */
export const LOG_DIRECTORY = 'log';

export const IMAGES_DIRECTORY = 'attachments';
