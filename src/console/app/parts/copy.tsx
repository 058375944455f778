import { curlCommand } from '../../model/curl-command.js';
import { copy } from '../state/announce.js';
import { base } from '../state/location.js';
import { pathWith, type Parameters } from '../state/api.js';
import { Button } from './button.js';

/** A text to be copied, such as an id. @param what names it: `Trace id` */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <Button
      look="quiet"
      icon="copy"
      label={`Copy ${what.charAt(0).toLowerCase()}${what.slice(1)}`}
      onClick={() => void copy(text, what)}
    />
  );
}

/** The call behind a view, for a terminal. */
export function CopyAsCurl({ path, query }: { readonly path: string; readonly query?: Parameters }) {
  const url = new URL(base + pathWith(path, query), window.location.href).href;
  return (
    <Button look="quiet" icon="terminal" onClick={() => void copy(curlCommand(url), 'Command')}>
      Copy as curl
    </Button>
  );
}
