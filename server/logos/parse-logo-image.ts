import { JPG } from 'image-size/types/jpg';
import { PNG } from 'image-size/types/png';
import { WEBP } from 'image-size/types/webp';
import { logoLimits, type Logo } from '@mandate/contract';
import { sha256 } from '../crypto/sha256.ts';

/** An image that has been checked and can be stored as a logo. */
export type LogoImage = Pick<Logo, 'width' | 'height'> & {
  readonly mediaType: Logo['media_type'];
  readonly hash: string;
  readonly content: Buffer;
};

/**
 * Supported formats. The format is detected from the content; the declared media type is ignored. SVG is not supported, because it can
 * contain scripts.
 */
const formats = [
  { mediaType: 'image/png', decoder: PNG },
  { mediaType: 'image/jpeg', decoder: JPG },
  { mediaType: 'image/webp', decoder: WEBP },
] as const;

/** Reason why an image cannot be used as a logo. */
export type LogoError = 'too_many_bytes' | 'unsupported_format' | 'unsupported_size';

/** Checks an uploaded logo by decoding its header. Returns the image, or the reason why the image cannot be used. */
export function parseLogoImage(content: Buffer): LogoImage | { readonly error: LogoError } {
  if (content.length > logoLimits.bytes) return { error: 'too_many_bytes' };
  const image = decodeHeader(content);
  if (!image) return { error: 'unsupported_format' };
  const { width, height } = image;
  if ([width, height].some((side) => !(side >= logoLimits.minSide && side <= logoLimits.maxSide))) return { error: 'unsupported_size' };
  return { ...image, hash: sha256(content, 'hex').slice(0, 32), content };
}

/** Returns the format and the size in the image header, or undefined if the header is incomplete or the format is not supported. */
function decodeHeader(content: Buffer): Pick<LogoImage, 'mediaType' | 'width' | 'height'> | undefined {
  try {
    const format = formats.find(({ decoder }) => decoder.validate(content));
    if (!format) return undefined;
    const { width, height } = format.decoder.calculate(content);
    return { mediaType: format.mediaType, width, height };
  } catch {
    return undefined;
  }
}
