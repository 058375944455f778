import { deflateSync, gzipSync } from 'node:zlib';
import type { Row } from '../harness/checked-api.js';

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export interface Random {
  (): number;
}

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface MalformedBody {
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** What was done to it. */
  readonly kind: string;
}

/** A body as it should be, in the parts that are changed. */
export interface SoundBody {
  readonly element: Row;
  /** Members that are objects, of tags for example. */
  readonly objects: readonly string[];
  /** The body with this text in the place of the element. */
  place(element: string): string;
}

export const pick = <T>(random: Random, values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
export const below = (random: Random, limit: number) => Math.floor(random() * limit);

/** JSON text of values that no field, or not this field, takes. */
export const oddValues: readonly string[] = [
  'null',
  'true',
  '0',
  '-0',
  '-1',
  '1.5',
  '1e309',
  '-1e309',
  '1e-400',
  '9007199254740993',
  '9'.repeat(400),
  '""',
  '"x"',
  '"\\u0000"',
  '"\\ud800"',
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '{"a":{}}',
  '{"__proto__":{"a":1}}',
  '{"constructor":{"prototype":{"a":1}}}',
  '{"length":1}',
  '"__proto__"',
  '"1970-01-01"',
  '"9999-12-31T23:59:59Z"',
  '"-000001-01-01"',
  '"2026-02-30T10:00:00Z"',
  '"null"',
  '"00000000-0000-0000-0000-000000000000"',
  '"\' OR 1=1 --"',
  '"{p1:String}"',
  '"\\\\N"',
  `"${'x'.repeat(5000)}"`,
  `"${'é'.repeat(5000)}"`,
];

function deepJson(random: Random): string {
  const levels = pick(random, [50, 150, 250, 5000, 100_000]);
  return random() < 0.5 ? '['.repeat(levels) + ']'.repeat(levels) : '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
}

/** Puts raw JSON text in the place of a member, or adds a member. */
function withMember(element: Row, name: string, value: string): string {
  const rest = Object.entries(element).filter(([key]) => key !== name);
  return `{${[...rest.map(([key, member]) => `${JSON.stringify(key)}:${JSON.stringify(member)}`), `${JSON.stringify(name)}:${value}`].join(',')}}`;
}

type Mutation = (random: Random, sound: SoundBody) => string | Buffer;

const whole = ({ element, place }: SoundBody) => place(JSON.stringify(element));

const mutations: Readonly<Record<string, Mutation>> = {
  'a member of another type': (random, { element, place }) =>
    place(withMember(element, pick(random, Object.keys(element)), pick(random, oddValues))),
  'several members of another type': (random, { element, place }) => {
    const changed = Object.keys(element)
      .filter(() => random() < 0.5)
      .map((name) => `${JSON.stringify(name)}:${pick(random, oddValues)}`);
    return place(`{${changed.join(',')}}`);
  },
  'a member left out': (random, { element, place }) =>
    place(JSON.stringify({ ...element, [pick(random, Object.keys(element))]: undefined })),
  'an element that is none': (random, { place }) => place(pick(random, oddValues)),
  'a body that is something else': (random) => pick(random, oddValues),
  'an odd value inside a member': (random, { element, objects, place }) => {
    const key = pick(random, [
      'a',
      '',
      '__proto__',
      'constructor',
      'a\nb',
      '\0',
      'k'.repeat(70_000),
      '\ud800',
      'toString',
      '{p1:String}',
    ]);
    return place(withMember(element, pick(random, objects), `{${JSON.stringify(key)}:${pick(random, oddValues)}}`));
  },
  'a huge name': (random, { element, place }) =>
    place(withMember(element, pick(random, ['x', '~/', '\0', '🧪']).repeat(100_000), '1')),
  'thousands of members': (random, { element, objects, place }) =>
    place(
      withMember(
        element,
        pick(random, objects),
        `{${Array.from({ length: 3000 }, (_, index) => `"k${index}":${random() < 0.01 ? '{}' : '"v"'}`).join(',')}}`,
      ),
    ),
  'thousands of bad elements': (random) =>
    `[${Array.from({ length: 2000 }, () => pick(random, oddValues.slice(0, 20))).join(',')}]`,
  'deep nesting': (random, { element, objects, place }) =>
    random() < 0.5
      ? deepJson(random)
      : place(withMember(element, pick(random, [...objects, 'unknown']), deepJson(random))),
  'cut off': (random, sound) => Buffer.from(whole(sound)).subarray(0, below(random, whole(sound).length)),
  'a byte changed': (random, sound) => {
    const bytes = Buffer.from(whole(sound));
    bytes[below(random, bytes.length)] = below(random, 256);
    return bytes;
  },
  'bytes put in': (random, sound) => {
    const bytes = Buffer.from(whole(sound));
    const at = below(random, bytes.length);
    const put = pick(random, [
      [0xff],
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0xf5],
      [0],
      [0xef, 0xbb, 0xbf],
      [0x5c],
      [0x22],
      [0x5d],
      [0x2c],
    ]);
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(put), bytes.subarray(at)]);
  },
  'the same member twice': (random, { element, place }) => {
    const name = pick(random, Object.keys(element));
    return place(JSON.stringify(element).replace(/\}$/, () => `,${JSON.stringify(name)}:${pick(random, oddValues)}}`));
  },
  'no JSON': (random) =>
    pick<string | Buffer>(random, [
      '',
      ' ',
      'hello',
      "[{'id':1}]",
      '[NaN]',
      '[Infinity]',
      '[01]',
      '[1,]',
      '{a:1}',
      '[undefined]',
      '\u0000',
      '[]]',
      '<xml/>',
      'a=b&c=d',
      Buffer.from([0x1f, 0x8b]),
      Buffer.from([0xff, 0xfe, 0x5b, 0x00]),
    ]),
};

/** A sound body with something done to it. */
export function malformedBody(random: Random, sound: SoundBody): MalformedBody {
  const kind = pick(random, Object.keys(mutations));
  return { body: mutations[kind]?.(random, sound) ?? '', headers: { 'content-type': 'application/json' }, kind };
}

/** The same body in a compression or under a media type that is not its own. */
export function badlyPackedBody(random: Random, { body, headers, kind }: MalformedBody): MalformedBody {
  return { kind: `${kind}, badly packed`, ...badlyPacked(random, Buffer.from(body), { ...headers }) };
}

function badlyPacked(
  random: Random,
  body: Buffer,
  headers: Record<string, string>,
): { body: Buffer; headers: Record<string, string> } {
  switch (below(random, 6)) {
    case 0:
      return {
        body,
        headers: {
          ...headers,
          'content-encoding': pick(random, ['gzip', 'deflate', 'br', 'zstd', 'x', 'gzip, gzip', '']),
        },
      };
    case 1: {
      const packed = gzipSync(body);
      return {
        body: packed.subarray(0, below(random, packed.length)),
        headers: { ...headers, 'content-encoding': 'gzip' },
      };
    }
    case 2: {
      const packed = gzipSync(body);
      packed[below(random, packed.length)] = below(random, 256);
      return { body: packed, headers: { ...headers, 'content-encoding': 'gzip' } };
    }
    case 3:
      return { body: deflateSync(body), headers: { ...headers, 'content-encoding': 'gzip' } };
    case 4:
      return { body: gzipSync(gzipSync(body)), headers: { ...headers, 'content-encoding': 'gzip' } };
    default:
      return {
        body,
        headers: {
          'content-type': pick(random, [
            'text/plain',
            'application/x-protobuf',
            'application/json; charset=utf-16',
            'application/',
            'x',
            'multipart/form-data; boundary=x',
          ]),
        },
      };
  }
}

/** Text of a query string, already encoded as far as it shall be. */
const oddTexts: readonly string[] = [
  '',
  'x',
  'null',
  'NaN',
  'Infinity',
  '-1',
  '0',
  '1e309',
  '1.5',
  '0x10',
  '9'.repeat(400),
  '%00',
  '%0A',
  '%09',
  '%27',
  '%22',
  '%5C',
  '%5CN',
  '%5C%27',
  '%27%20OR%201%3D1%20--',
  '%7Bp1%3AString%7D',
  '%F0%9F%A7%AA',
  'é',
  '%EF%BF%BF',
  '%25',
  '%2C',
  '%252C',
  '%2525252C',
  ',,,',
  ',',
  '+',
  '%26',
  '%3D',
  '[]',
  '[object%20Object]',
  '__proto__',
  'constructor',
  'true',
  'TRUE',
  '00000000-0000-0000-0000-000000000000',
  '2026-01-31T10:00:00Z',
  '9999-12-31',
  '-271821-04-20',
  '2026-02-30',
  'x'.repeat(5000),
  '%C3%A9'.repeat(1500),
  '%5C'.repeat(3000),
  ','.repeat(3000),
  '%FF',
  '%C0%80',
  '%ED%A0%80',
  '%',
  '%zz',
  '%u0041',
];

/** A query string of known and unknown parameters with hostile values, with its question mark. */
export function malformedQuery(random: Random, known: readonly string[]): string {
  const names = [...oddTexts.slice(0, 44), 'tags.a', 'tags.', 'a', 'a.b', 'LIMIT', 'limit[]', 'limit%00'];
  const parameters = Array.from({ length: 1 + below(random, 4) }, () => {
    const name = random() < 0.75 ? pick(random, known) : pick(random, names);
    const value = pick(random, oddTexts);
    return random() < 0.03 ? name : `${name}=${value}`;
  });
  if (random() < 0.1) parameters.push(parameters[0] ?? '');
  if (random() < 0.03) parameters.push(...Array.from({ length: 600 }, (_, index) => `t${index}=${index}`));
  return `?${parameters.join(pick(random, ['&', '&', '&', '&&', ';']))}`;
}

/** A path parameter, already encoded as far as it shall be. */
export function malformedPathValue(random: Random): string {
  return pick(
    random,
    oddTexts.filter((text) => text !== ''),
  );
}

/** Headers that say what cannot be, beside a sound request. */
export function malformedHeaders(random: Random): Record<string, string> {
  const value = () => pick(random, ['', 'x', '"', ',;=', '*/*;q=9', '\u00ff', '-1', '9'.repeat(400), 'x'.repeat(5000)]);
  const names = ['accept', 'accept-encoding', 'prefer', 'if-none-match', 'cookie', 'x-forwarded-for', 'x-request-id'];
  const headers = Object.fromEntries(names.filter(() => random() < 0.4).map((name) => [name, value()]));
  if (random() < 0.3) headers['authorization'] = pick(random, ['Bearer ', 'Bearer x', 'Basic eDp5', value()]);
  return headers;
}
