import { Type } from '@sinclair/typebox';

/** What is said of a setting beyond JSON Schema. */
export interface Words {
  readonly description: string;
  readonly must?: string;
  readonly defaultText?: string;
  readonly secret?: true;
}

export const text = (words: Words & { default?: string; pattern?: string }) => Type.String({ ...words });
export const whole = (words: Words & { default: number; minimum: number; maximum: number }) =>
  Type.Integer({ ...words });
export const choice = <const T extends readonly string[]>(values: T, words: Words & { default?: T[number] }) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...words });

export const HTTP_URL = '^https?://[^\\s/?#]+[^\\s?#]*$';
export const HOST_AND_PORT = '[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?';
export const IDENTIFIER = '^[A-Za-z_][A-Za-z0-9_]{0,62}$';
export const UUID = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';
