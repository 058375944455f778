import { Type } from '@sinclair/typebox';
import type { DeletionService } from '../../../../domain/deletion/deletion-service.js';
import { DomainError } from '../../../../domain/errors.js';
import type { DeletableKind } from '../../../../domain/deletion/stored-spans.js';
import { uuid } from '../../../../domain/schema/parts.js';
import { defineRoute, type Route } from '../../route.js';

/** `DELETE /spans/{id}`, `/traces/{id}` and `/sessions/{id}`. */
export function deleteRoute(what: DeletableKind, deletions: Pick<DeletionService, 'delete'>): Route {
  return defineRoute({
    method: 'DELETE',
    path: `/${what}s/:id`,
    operationId: `delete${what.charAt(0).toUpperCase()}${what.slice(1)}`,
    summary: `Delete a ${what}`,
    description:
      `Deletes the ${what}${below[what]}, from every list, count and cost. With ${what === 'span' ? 'it' : 'the spans'}, the server deletes the ` +
      'evaluations, feedback and corrections, queued runs, images that no other span refers to, the calls of judges that were stored ' +
      'as spans and hold its text, the samples of optimisations and trials, and its words in the search index; no judge is ' +
      'shown it as an example again. Versions of prompts that were made of candidates stay, and so do figures of jobs. When ' +
      'this is answered, all of it is gone (of more than 500 images, the bytes of the rest are removed within minutes); what ' +
      'fails on the way, or is cut off by a stop, is completed later by itself. ' +
      'A span sent again with the same id is a new one.',
    tag: 'Traces',
    access: 'key',
    params: Type.Object({ id: uuid(`Id of the ${what}.`) }),
    responses: { 204: { description: `The ${what} is gone.` } },
    errors: ['not_found', 'invalid', 'overloaded', 'unavailable'],
    async handle({ principal, params }) {
      if (await deletions.delete(principal.project_id, { kind: what, id: params.id, by: principal }))
        return { status: 204 };
      throw new DomainError('not_found', `There is no ${what} with this id.`);
    },
  });
}

const below: Readonly<Record<DeletableKind, string>> = {
  span: '',
  trace: ' and all its spans',
  session: ', its traces and all their spans',
};
