/** Why a project cannot be exported or imported, in words that say what to do. */
export class TransferError extends Error {}
