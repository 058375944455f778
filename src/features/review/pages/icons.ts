import { html, type Html } from '../../../http/pages/html.js';

/** A hand with its thumb up; down is the same, turned by the style. Drawn for this page. */
export function thumb(which: 'up' | 'down'): Html {
  return html`<svg
    class="thumb thumb-${which}"
    viewBox="0 0 24 24"
    width="24"
    height="24"
    aria-hidden="true"
    focusable="false"
  >
    <path
      d="M3 10.5h3.2V21H3.6a.6.6 0 0 1-.6-.6zM8 20.2V10.6l3.7-7.2c.1-.3.4-.4.7-.4 1.3.1 2.2 1.3 2 2.6L13.9 9h5.3c1.4 0 2.4 1.3 2.1 2.6l-1.700 7.700A2.2 2.2 0 0 1 17.500 21H9.1A1.1 1.1 0 0 1 8 20.2z"
    />
  </svg>`;
}
