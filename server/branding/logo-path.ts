import type { LogoMediaType } from '@mandate/contract';
import type { ShopBranding } from './default-branding.ts';

const extensions: Readonly<Record<LogoMediaType, string>> = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/webp': 'webp' };

/** Path pattern of the logo, for Express. */
export const logoPathPattern = /^\/assets\/logo-([0-9a-f]{32})\.(?:png|jpg|webp)$/;

/** Returns the path of the logo below the base path. The path contains a hash of the image. */
export const logoPath = ({ hash, media_type: type }: NonNullable<ShopBranding['logo']>): string =>
  `/assets/logo-${hash}.${extensions[type]}`;
