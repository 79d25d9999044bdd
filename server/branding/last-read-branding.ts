import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { defaultShopBranding, type ShopBranding } from './default-branding.ts';
import { readShopBranding } from './read-and-write-branding.ts';

/**
 * Keeps the most recently read branding, so that pages can be rendered synchronously. Every page request reads the branding first, by
 * primary key, so that a change takes effect in every process with the next request.
 */
export class LastReadBranding {
  #current: ShopBranding = defaultShopBranding;

  get current(): ShopBranding {
    return this.#current;
  }

  /** Reads the branding. If the database is unavailable, the previous branding stays in use, so that error pages can still be shown. */
  async refresh(em: EntityManager): Promise<void> {
    try {
      const branding = await readShopBranding(em);
      // A read that started earlier but finishes later must not replace a newer version.
      if (branding.version >= this.#current.version) this.#current = branding;
    } catch {
      // If the database is unavailable, the request fails at its next database query and reports that error.
    }
  }
}
