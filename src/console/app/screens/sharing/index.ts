/* One chunk: comments on a trace, what shares it, and its page for whoever has a link. */
export { Comments } from '../comments/index.js';
export { ShareDialog } from './share-dialog.js';
export { Shared } from './shared.js';
export { SharingSettings } from './sharing-settings.js';
