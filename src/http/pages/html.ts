/** Markup that is safe to send. Made only by the tag `html`, which escapes every text put into it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value inserted into a template: text and numbers are escaped; null and false are nothing. */
export type Insertable = string | number | Html | null | false | readonly Insertable[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A piece of a page. Attributes are written with double quotes. */
export function html(texts: TemplateStringsArray, ...values: Insertable[]): Html {
  const parts = [texts[0] ?? ''];
  values.forEach((value, index) => parts.push(rendered(value), texts[index + 1] ?? ''));
  return new Html(parts.join(''));
}

function rendered(value: Insertable): string {
  if (value === null || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
  return typeof value === 'number' ? String(value) : value.map(rendered).join('');
}
