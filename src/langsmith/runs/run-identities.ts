/** What a request says of a run. */
interface Said {
  readonly isPatch: boolean;
  readonly body: unknown;
}

/**
 * Tells apart what one request says of one run several times: what is sent again is the same, whatever it is between. Only runs
 * that come more than once are compared.
 */
export class RunIdentities {
  readonly #seen = new Map<string, { readonly first: Said; readonly texts: Map<string, number> }>();

  /** @param id of the run */
  of(sent: Said, id: string): string {
    const verb = sent.isPatch ? 'patch' : 'post';
    const key = `${verb} ${id}`;
    const known = this.#seen.get(key);
    if (known === undefined) {
      this.#seen.set(key, { first: sent, texts: new Map() });
      return verb;
    }
    const { first, texts } = known;
    if (texts.size === 0) texts.set(textOf(first), 0);
    const text = textOf(sent);
    const nth = texts.get(text) ?? texts.size;
    texts.set(text, nth);
    return nth === 0 ? verb : `${verb} ${nth}`;
  }
}

const textOf = ({ body }: Said) => JSON.stringify(body);
