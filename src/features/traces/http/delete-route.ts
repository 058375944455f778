import { Type } from '@sinclair/typebox';
import type { DeletionService } from '../../deletion/deletion-service.js';
import { DomainError } from '../../../engine/errors.js';
import type { DeletableKind } from '../../../engine/traces/model/deletion/stored-spans.js';
import { uuid } from '../../../engine/schema/parts.js';
import { defineRoute } from '../../../http/route.js';

/** `DELETE /spans/{id}`, `/traces/{id}` and `/sessions/{id}`. */
export function deleteRoute<const W extends DeletableKind>(what: W, deletions: Pick<DeletionService, 'delete'>) {
  return defineRoute({
    method: 'DELETE',
    path: `/${what}s/:id` as const,
    operationId: `delete${what.charAt(0).toUpperCase()}${what.slice(1)}`,
    summary: `Delete a ${what}`,
    description: `Deletes the ${what}${below[what]}, from every list, count and cost. With ${what === 'span' ? 'it' : 'the spans'}, the server deletes the evaluations, feedback and corrections, queued runs, images that no other span refers to, the judge calls that were stored as spans and contain its text, the samples of optimizations and trials, and its words in the search index. No judge is shown it as an example again. Prompt versions that were made from candidates stay, and so do figures of jobs. Once the call responds, all of it is deleted (of more than 500 images, the bytes of the others are removed within minutes). If a step fails or a stop interrupts it, the server completes it later automatically. A span that is sent again with the same id is a new span.`,
    tag: 'Traces',
    access: 'key',
    params: Type.Object({ id: uuid(`Id of the ${what}.`) }),
    responses: { 204: { description: `The ${what} is deleted.` } },
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
