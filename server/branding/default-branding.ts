import type { Branding } from '@mandate/contract';
import type { StoredLogo } from '../logos/logo-columns.ts';

/** The stored branding of the shop. */
export type ShopBranding = Omit<Branding, 'colors' | 'logo'> & {
  readonly logo: StoredLogo | null;
};

/** The branding of an installation whose administrator has not changed it. */
export const defaultShopBranding: ShopBranding = {
  name: 'Mandate',
  accent_color: '#1d4ed8',
  logo: null,
  help_url: null,
  terms_url: null,
  privacy_url: null,
  email_sender_name: null,
  email_footer: null,
  version: 1,
};
