import { checkDepth, PARTS, plainDouble, type Budget } from './budget.js';
import { newAttributes, type Attributes, type AttributeValue } from './model.js';
import { BYTES, FIXED64, VARINT, type OtlpReader } from './wire.js';

/** Decodes attributes, which become plain objects at once. */
export class AttributeDecoder {
  readonly #reader: OtlpReader;
  readonly #budget: Budget;

  constructor(reader: OtlpReader, budget: Budget) {
    this.#reader = reader;
    this.#budget = budget;
  }

  /** Reads a KeyValue that ends at `end`. */
  read(into: Attributes, end: number, depth = 1): void {
    const reader = this.#reader;
    let key = '';
    let value: AttributeValue = null;
    while (reader.pos < end) {
      const tag = reader.tag();
      switch (tag) {
        case (1 << 3) | BYTES:
          key = reader.text();
          break;
        case (2 << 3) | BYTES:
          value = this.#anyValue(reader.enter(end), depth);
          break;
        default:
          reader.skipField(tag);
      }
    }
    reader.leave(end);
    this.#budget.spendAttribute(key);
    into[key] = value;
  }

  #anyValue(end: number, depth: number): AttributeValue {
    const reader = this.#reader;
    checkDepth(depth);
    let value: AttributeValue = null;
    while (reader.pos < end) {
      const tag = reader.tag();
      switch (tag) {
        case (1 << 3) | BYTES:
          value = reader.text();
          break;
        case (2 << 3) | VARINT:
          value = reader.bool();
          break;
        case (3 << 3) | VARINT:
          value = reader.integer();
          break;
        case (4 << 3) | FIXED64:
          value = plainDouble(reader.float64());
          break;
        case (5 << 3) | BYTES:
          value = this.#array(reader.enter(end), depth);
          break;
        case (6 << 3) | BYTES:
          value = this.#keyValueList(reader.enter(end), depth);
          break;
        case (7 << 3) | BYTES:
          value = reader.base64();
          break;
        default:
          reader.skipField(tag);
      }
    }
    reader.leave(end);
    return value;
  }

  #array(end: number, depth: number): AttributeValue[] {
    const reader = this.#reader;
    const values: AttributeValue[] = [];
    this.#budget.spend(PARTS.list);
    while (reader.pos < end) {
      const tag = reader.tag();
      if (tag === ((1 << 3) | BYTES)) {
        this.#budget.spend(PARTS.element);
        values.push(this.#anyValue(reader.enter(end), depth + 1));
      } else reader.skipField(tag);
    }
    reader.leave(end);
    return values;
  }

  #keyValueList(end: number, depth: number): Attributes {
    const reader = this.#reader;
    const values = newAttributes();
    this.#budget.spend(PARTS.list);
    while (reader.pos < end) {
      const tag = reader.tag();
      if (tag === ((1 << 3) | BYTES)) this.read(values, reader.enter(end), depth + 1);
      else reader.skipField(tag);
    }
    reader.leave(end);
    return values;
  }
}
