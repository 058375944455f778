import { IdentityService } from '../engine/identity/identity-service.js';
import { InvitationService } from '../engine/identity/invitation-service.js';
import { OwnSessions } from '../engine/identity/own-sessions.js';
import { RevokedKeys } from '../engine/identity/revoked-keys.js';
import { SignInService } from '../engine/identity/sign-in-service.js';
import type { Micros } from '../engine/timestamp.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

const MINUTE: Micros = 60 * 1e6;

export function openIdentity({ config, closers, events }: Context, { metadata, audit }: Storage): IdentityService {
  const identity = new IdentityService({
    store: metadata.identities,
    audit,
    onRecordFailed: (error) => events.keyUseNotRecorded({ error }),
  });
  closers.push(() => identity.close());
  const revoked = new RevokedKeys({
    store: metadata.identities,
    initKey: config.init.apiKey,
    onFailed: (error) => events.revokedKeysNotRemoved({ error }),
  });
  closers.push(() => revoked.close());
  return identity;
}

export function openSignIns(
  { config, overrides, events }: Context,
  { metadata, audit }: Storage,
  identity: IdentityService,
) {
  const parts = { store: metadata.signIns, identity, ...overrides.signIns, audit };
  const signIns = new SignInService({
    ...parts,
    externalOnly: config.signIns.externalOnly,
    lasts: { idle: config.signIns.idleMinutes * MINUTE, total: config.signIns.hours * 60 * MINUTE },
    onRecordFailed: (error) => events.signInUseNotRecorded({ error }),
    onUpkeepFailed: (signIn, error) => events.signInsNotRemoved({ signIn, error }),
  });
  return { signIns, ownSessions: new OwnSessions(parts), invitations: new InvitationService({ ...parts, signIns }) };
}
