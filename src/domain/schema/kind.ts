import { Type } from '@sinclair/typebox';

/** What a span can be: one of the contract's six kinds or any other identifier of this form. */
export const KIND = /^[a-z][a-z0-9_]{0,31}$/;

/** A kind, wherever one is taken or answered. */
export const spanKind = (description: string) => Type.String({ pattern: KIND.source, description });
