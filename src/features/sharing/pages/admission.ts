import type { Opening } from '../../../http/route.js';
import type { ReviewAccess } from '../../review/pages/access.js';
import type { ShareService } from '../share-service.js';

/** How often a shared trace may be asked for: limits of an address, and of a link, as at the pages of feedback links. */
export class ShareAdmission {
  readonly #shares: Pick<ShareService, 'open'>;
  readonly #access: Pick<ReviewAccess, 'ofAddress' | 'ofLink'>;

  constructor(shares: Pick<ShareService, 'open'>, access: Pick<ReviewAccess, 'ofAddress' | 'ofLink'>) {
    this.#shares = shares;
    this.#access = access;
  }

  /** @throws DomainError `overloaded`; `not_found` for a token that does not work */
  async admit({ params: { token }, headers, remoteAddress }: Opening<{ token: string }>): Promise<void> {
    await this.#access.ofAddress(headers, remoteAddress);
    await this.#access.ofLink(this.#shares.open(token).id);
  }
}
