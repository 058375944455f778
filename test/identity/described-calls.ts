import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Scope } from '../../src/engine/identity/scopes.js';
import type { TestServer } from '../harness/server.js';

/** A call that needs a key or a session. */
export interface DescribedCall {
  readonly id: string;
  readonly method: string;
  /** With something in the place of its parameters that is not there. */
  readonly path: string;
  /** Scopes, all of which it needs. */
  readonly needed: readonly Scope[];
  readonly description: string;
}

interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly security: object[];
  readonly 'x-scopes'?: Scope[];
}

/** Every call of the OpenAPI document that is not public. */
export async function describedCalls(server: TestServer): Promise<DescribedCall[]> {
  const { json } = await server.request('GET', '/openapi.json', { key: null });
  const { paths } = json as { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId: id, description, security, 'x-scopes': needed }]) => {
      expect(needed === undefined, id).to.equal(security.length === 0);
      if (needed === undefined) return [];
      return [{ id, method: method.toUpperCase(), path: filled(path, server.projectId), needed, description }];
    }),
  );
}

function filled(path: string, projectId: string): string {
  return path
    .replace('{project_id}', projectId)
    .replace(/\{[^}]*(id|hash)\}/g, () => randomUUID())
    .replace(/\{[^}]+\}/g, 'x');
}
