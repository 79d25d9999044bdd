import type { Logo } from '@mandate/contract';

/** File extension for each media type of a logo. */
const extensions: Readonly<Record<Logo['media_type'], string>> = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/webp': 'webp' };

/** Express path pattern that matches the paths of logos. */
export const logoPathPattern = /^\/assets\/logo-([0-9a-f]{32})\.(?:png|jpg|webp)$/;

/** Returns a logo's path, relative to the base path. The path contains a hash of the image. */
export const getLogoPath = ({ hash, media_type: type }: Pick<Logo, 'media_type'> & { readonly hash: string }): string =>
  `/assets/logo-${hash}.${extensions[type]}`;
