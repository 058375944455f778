export type LeaseErrorKind =
  | 'held' // another server that lives has it
  | 'lost'; // another server has taken it over

/** The database belongs to another server. The message is fit to print before exiting with 1. */
export class LeaseError extends Error {
  readonly kind: LeaseErrorKind;

  constructor(kind: LeaseErrorKind, message: string) {
    super(message);
    this.name = 'LeaseError';
    this.kind = kind;
  }
}
