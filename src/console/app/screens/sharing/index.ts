/* One chunk: what shares a trace, lists its links, and shows it to whoever has one. */
export { ShareDialog } from './share-dialog.js';
export { Shared } from './shared.js';
export { SharingSettings } from './sharing-settings.js';
