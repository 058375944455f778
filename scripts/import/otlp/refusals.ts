import protobuf from 'protobufjs/minimal.js';
import { membersOf, textOf } from '../members.js';
import type { Refusal } from '../step.js';

/** Spans of a request that the server did not take. @param answer in JSON or protobuf */
export function refusals(answer: unknown, name: string): Refusal[] {
  const { count, why } = Buffer.isBuffer(answer) ? partialIn(answer) : partialOf(answer);
  return count === 0 ? [] : [{ what: name, why, count, tally: { spans: count } }];
}

function partialOf(answer: unknown) {
  const { rejectedSpans, errorMessage } = membersOf(membersOf(answer)['partialSuccess']);
  return { count: Number(rejectedSpans ?? 0), why: textOf(errorMessage) ?? 'refused' };
}

function partialIn(answer: Buffer) {
  const reader = protobuf.Reader.create(answer);
  const found = { count: 0, why: 'refused' };
  while (reader.pos < reader.len) {
    if (reader.uint32() !== 10) return found;
    const end = reader.uint32() + reader.pos;
    while (reader.pos < end) {
      const tag = reader.uint32();
      if (tag === 8) found.count = Number(reader.int64());
      else if (tag === 18) found.why = reader.string();
      else reader.skipType(tag & 7);
    }
  }
  return found;
}
