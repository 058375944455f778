import type { ComponentChildren } from 'preact';
import { count, duration, money, moneyInFull, NOTHING } from '../../model/format.js';
import { ago, isFarAway, writeTime } from '../../model/time.js';
import { zone } from '../state/preferences.js';

type Maybe<T> = T | null | undefined;

/** A cost, with all of its digits in the tooltip. */
export function Cost({ of }: { readonly of: Maybe<number> }) {
  return <span title={moneyInFull(of)}>{money(of)}</span>;
}

export function Took({ ms }: { readonly ms: Maybe<number> }) {
  return <span title={ms == null ? 'unknown' : `${ms} ms`}>{duration(ms)}</span>;
}

export function Count({ of }: { readonly of: Maybe<number> }) {
  return <span>{count(of)}</span>;
}

/** A time in the chosen zone, or how long ago it is if that is not long; with the whole of it in the tooltip. */
export function When({ at, relative = false }: { readonly at: Maybe<string>; readonly relative?: boolean }) {
  if (at == null) return <span>{NOTHING}</span>;
  const full = `${writeTime(at, zone.value, 'full')} (${at})`;
  const isRelative = relative && !isFarAway(at);
  return (
    <time dateTime={at} title={isRelative ? full : `${ago(at)}, ${full}`}>
      {isRelative ? ago(at) : writeTime(at, zone.value)}
    </time>
  );
}

/** A figure of a list of terms. */
export function Figure({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface TileProps {
  readonly label: string;
  /** The list that it counts. */
  readonly href?: string;
  readonly children: ComponentChildren;
  readonly note?: ComponentChildren;
}

/** One figure, which leads to the list that it counts. */
export function Tile({ label, href, children, note }: TileProps) {
  const content = (
    <>
      <span class="soft">{label}</span>
      <b>{children}</b>
      {note !== undefined && <span class="soft small">{note}</span>}
    </>
  );
  if (href === undefined) return <div class="tile">{content}</div>;
  return (
    <a class="tile" href={href}>
      {content}
    </a>
  );
}
