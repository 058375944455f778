import { membersIn, membersOf, textOf } from '../members.js';
import type { Refusal, SentRequest, Step } from '../step.js';
import { NOTHING, plus } from '../tally.js';
import type { LangfuseEvent } from './events.js';

const MAX_EVENTS = 500;
/** Below what the server takes at once. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/** Events that are sent together. */
export class EventBatch {
  #events: { readonly event: LangfuseEvent; readonly json: string }[] = [];
  #characters = 0;

  /** @param event null: `what` is none, of which `name` is where it was read */
  *add(event: LangfuseEvent | null, name: string): Iterable<Step> {
    if (event === null) {
      yield { type: 'left', left: { what: name, why: 'it has no id or no time' } };
      return;
    }
    for (const left of event.left) yield { type: 'left', left };
    const { id, type, timestamp, body } = event;
    const json = JSON.stringify({ id, type, timestamp, body });
    if (this.#events.length > 0 && this.#characters + json.length > MAX_CHARACTERS) yield* this.steps();
    this.#events.push({ event, json });
    this.#characters += json.length;
    if (this.#events.length >= MAX_EVENTS) yield* this.steps();
  }

  /** What waits. */
  *steps(): Iterable<Step> {
    const events = this.#events;
    if (events.length === 0) return;
    [this.#events, this.#characters] = [[], 0];
    yield { type: 'request', request: requestOf(events) };
  }
}

function requestOf(events: readonly { readonly event: LangfuseEvent; readonly json: string }[]): SentRequest {
  const half = Math.ceil(events.length / 2);
  return {
    path: '/api/public/ingestion',
    body: `{"batch":[${events.map(({ json }) => json).join(',')}]}`,
    tally: events.reduce((sum, { event }) => plus(sum, event.tally), NOTHING),
    name: events
      .map(({ event }) => event.id)
      .join(', ')
      .slice(0, 200),
    refusals: (answer) =>
      refusals(
        answer,
        events.map(({ event }) => event),
      ),
    split: () => (events.length === 1 ? [] : [requestOf(events.slice(0, half)), requestOf(events.slice(half))]),
  };
}

function refusals(answer: unknown, events: readonly LangfuseEvent[]): Refusal[] {
  const errors = membersIn(membersOf(answer)['errors']);
  if (errors.length === 0) return [];
  const byId = new Map(events.map((event) => [event.id, event]));
  return errors.map((error) => {
    const what = textOf(error['id']) ?? 'an event';
    // Ids are long: the answer has their beginnings.
    const event = byId.get(what) ?? events.find(({ id }) => id.startsWith(what));
    return { what, why: textOf(error['message']) ?? 'refused', tally: event?.tally ?? {} };
  });
}
