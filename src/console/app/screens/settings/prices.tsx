import { OwnPrices } from './own-prices.js';
import { Reprices } from './reprices.js';
import { Unpriced } from './unpriced.js';

/** What calls of models cost: those without a price first, the project's own prices, and costs recalculated. */
export default function Prices() {
  return (
    <div class="stack parts">
      <Unpriced />
      <OwnPrices />
      <Reprices />
    </div>
  );
}
