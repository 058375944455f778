/** The group of calls that clients of Langfuse make. */
export const TAG = 'Langfuse';
