/** Tag values are always strings; numbers and booleans are kept as their JSON text. */
export type Tags = Readonly<Record<string, string>>;
