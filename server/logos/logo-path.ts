import type { Logo } from '@mandate/contract';

/** File extensions of the images. */
const extensions: Readonly<Record<Logo['media_type'], string>> = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/webp': 'webp' };

/** Path pattern of logos, for Express. */
export const logoPathPattern = /^\/assets\/logo-([0-9a-f]{32})\.(?:png|jpg|webp)$/;

/** Returns the path of a logo below the base path. The path contains a hash of the image. */
export const logoPath = ({ hash, media_type: type }: Pick<Logo, 'media_type'> & { readonly hash: string }): string =>
  `/assets/logo-${hash}.${extensions[type]}`;
