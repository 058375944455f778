import { checkDepth, PARTS, type Budget } from './budget.js';
import { base64, boolean, double, integer, list, optional, record, text, type Json } from './json-values.js';
import { newAttributes, type Attributes, type AttributeValue } from './model.js';

/** Decodes attributes of OTLP/JSON, which may nest. */
export class AttributeDecoder {
  readonly #budget: Budget;

  /** @param budget what the request may hold, all of it together */
  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Reads a list of key and value pairs. */
  decode(value: unknown, into: Attributes, depth = 1): void {
    for (const item of list(value, 'attributes')) {
      const pair = record(item, 'an attribute');
      const key = text(pair.key, 'key');
      this.#budget.spendAttribute(key);
      into[key] = this.#anyValue(pair.value, depth);
    }
  }

  #anyValue(value: unknown, depth: number): AttributeValue {
    checkDepth(depth);
    const holder = optional(value, 'value');
    for (const member in holder) {
      const held = holder[member];
      if (held === null) continue;
      switch (member) {
        case 'stringValue':
        case 'string_value':
          return text(held, member);
        case 'boolValue':
        case 'bool_value':
          return boolean(held, member);
        case 'intValue':
        case 'int_value':
          return integer(held, member);
        case 'doubleValue':
        case 'double_value':
          return double(held, member);
        case 'arrayValue':
        case 'array_value':
          return this.#array(record(held, member), depth);
        case 'kvlistValue':
        case 'kvlist_value': {
          const into = newAttributes();
          this.#budget.spend(PARTS.list);
          this.decode(record(held, member).values, into, depth + 1);
          return into;
        }
        case 'bytesValue':
        case 'bytes_value':
          return base64(held, member);
        default: // an unknown member: a later version of the protocol
      }
    }
    return null;
  }

  #array(holder: Json, depth: number): AttributeValue[] {
    const values: AttributeValue[] = [];
    this.#budget.spend(PARTS.list);
    for (const item of list(holder.values, 'values')) {
      this.#budget.spend(PARTS.element);
      values.push(this.#anyValue(item, depth + 1));
    }
    return values;
  }
}
