import { Type } from '@sinclair/typebox';
import { DomainError } from '../../../../domain/errors.js';
import { uuid } from '../../../../domain/validation/fields.js';
import { defineRoute, type Route } from '../../route.js';

export type Deleted = 'span' | 'trace' | 'session';

/** `DELETE /spans/{id}`, `/traces/{id}` and `/sessions/{id}`. */
export function deleteRoute(what: Deleted, remove: (projectId: string, id: string) => Promise<boolean>): Route {
  return defineRoute({
    method: 'DELETE',
    path: `/${what}s/:id`,
    operationId: `delete${what.charAt(0).toUpperCase()}${what.slice(1)}`,
    summary: `Delete a ${what}`,
    description: `Deletes the ${what}${below[what]}. It is gone from every list and figure at once.`,
    tag: 'Traces',
    access: 'key',
    params: Type.Object({ id: uuid(`Id of the ${what}.`) }),
    responses: { 204: { description: `The ${what} is gone.` } },
    errors: ['not_found', 'invalid', 'overloaded', 'unavailable'],
    async handle({ principal, params }) {
      if (await remove(principal.project_id, params.id)) return { status: 204 };
      throw new DomainError('not_found', `There is no ${what} with this id.`);
    },
  });
}

const below: Readonly<Record<Deleted, string>> = {
  span: '',
  trace: ' and all its spans',
  session: ', its traces and all their spans',
};
