import { Type } from '@sinclair/typebox';
import { DomainError } from '../../../engine/errors.js';
import { count, uuid } from '../../../engine/schema/parts.js';
import type { Lists } from '../../../engine/traces/model/list/lists.js';
import type { WholeKind, WholeReader } from '../../../engine/traces/model/judged/whole-reader.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute } from '../../../http/route.js';

/** Reads traces and sessions as text. */
export interface TextParts {
  readonly texts: Pick<WholeReader, 'readWholes'>;
  readonly lists: Pick<Lists, 'tracesById' | 'sessionsById'>;
}

const LEAST_CHARACTERS = 1_000;
const MOST_CHARACTERS = 200_000;
const DEFAULT_CHARACTERS = 20_000;

const textQuery = queryOf(
  Type.Object({
    max_characters: Type.Integer({
      minimum: LEAST_CHARACTERS,
      maximum: MOST_CHARACTERS,
      default: DEFAULT_CHARACTERS,
      description: 'Most characters of the text; about four make a token of a model.',
    }),
  }),
);

const TextRead = Type.Object(
  {
    id: uuid('Id of the trace or session.'),
    spans: count('Number of its spans, shown or not.'),
    text: Type.String({ description: 'The text.' }),
  },
  { $id: 'TextRead', description: 'A trace or session as text.' },
);

/** `GET /traces/{id}/text` and `/sessions/{id}/text`: what judges are shown, for people on a terminal and for agents. */
export function textRoutes(parts: TextParts) {
  return [
    textRoute(
      'trace',
      'its tree, with a line for each span, and below it input, output and error of the span. Errors and the root span ' +
        'have more room than others',
      parts,
    ),
    textRoute(
      'session',
      'of each trace, input and output of the span that stands for it, and its errors. The latest traces have more room ' +
        'than earlier ones',
      parts,
    ),
  ];
}

function textRoute<const W extends WholeKind>(what: W, shown: string, { texts, lists }: TextParts) {
  return defineRoute({
    method: 'GET',
    path: `/${what}s/:id/text` as const,
    operationId: `get${what === 'trace' ? 'Trace' : 'Session'}Text`,
    summary: `Get a ${what} as text`,
    description: `Returns the ${what} as text within \`max_characters\`: ${shown}. Lines end with the id of the span. The text says where something is left out, and its last line says how much. A line that begins with \`|\` belongs to the text of a span.`,
    tag: 'Traces',
    access: 'key',
    bulk: true,
    params: Type.Object({ id: uuid(`Id of the ${what}.`) }),
    query: textQuery,
    responses: { 200: { description: 'The text.', schema: TextRead } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal, params: { id }, query: { max_characters: maxCharacters } }) {
      const shape = { kind: what, maxCharacters, kinds: [], withIds: true };
      const { project_id } = principal;
      const whole = (await texts.readWholes(project_id, [id], shape)).get(id)?.whole;
      if (whole != null) return { status: 200, body: { id, spans: whole.spans, text: whole.outline } };
      // It may have been posted without a span.
      const known = what === 'trace' ? lists.tracesById(project_id, [id]) : lists.sessionsById(project_id, [id]);
      if ((await known).has(id)) return { status: 200, body: { id, spans: 0, text: '' } };
      throw new DomainError('not_found', `There is no ${what} with this id`);
    },
  });
}
