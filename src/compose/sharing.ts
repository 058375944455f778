import { CommentService } from '../features/comments/comment-service.js';
import type { AttachmentService } from '../features/images/attachment-service.js';
import type { MaskerOf } from '../features/masking/maskers.js';
import { SharedTraces } from '../features/sharing/shared-traces.js';
import { ShareService } from '../features/sharing/share-service.js';
import { BesideTraces } from '../features/traces/beside-traces.js';
import type { OutlineService } from '../engine/traces/model/trace/outline.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

export interface Sharing {
  readonly comments: CommentService;
  readonly shares: ShareService;
  readonly shared: SharedTraces;
}

interface SharingDependencies {
  readonly attachments: AttachmentService;
  readonly outlines: OutlineService;
  readonly masker: MaskerOf;
}

/** What people say of traces, and how they show them to others. */
export function openSharing(
  { events, baseUrl }: Context,
  { metadata, traces, audit }: Storage,
  { attachments, outlines, masker }: SharingDependencies,
): Sharing {
  const { lists } = traces;
  const beside = new BesideTraces({ lists, deletions: (projectId) => metadata.deletionsUnderWay(projectId) });
  const urlOf = (token: string) => `${baseUrl()}/s/${token}`;
  return {
    comments: new CommentService({ store: metadata.comments, beside, masker, audit }),
    shares: new ShareService({ store: metadata.shares, beside, observer: events, audit, urlOf }),
    shared: new SharedTraces({ lists, outlines, attachments, masker, urlOf }),
  };
}
