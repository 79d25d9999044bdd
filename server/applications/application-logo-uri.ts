/** Prefix of the logo URIs that pages embed. Loading an image from a different server would reveal to that server who opened the page. */
const pngDataPrefix = 'data:image/png;base64,';
const sideMax = 512;
const bytesMax = 32_768;
const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * Returns a description of what is wrong with a logo URL, or undefined if the URL is valid. The API accepts and returns https URLs, but the
 * server's own pages never load images from such URLs.
 */
export function findLogoUriError(uri: string): string | undefined {
  if (uri.startsWith('https://')) return undefined;
  if (!uri.startsWith(pngDataPrefix)) return 'must be an https URL, or a PNG image in a data: URI';
  const picture = Buffer.from(uri.slice(pngDataPrefix.length), 'base64');
  if (!picture.subarray(0, 8).equals(pngSignature) || picture.length < 33) return 'is not a PNG';
  if (picture.length > bytesMax) return `is larger than ${bytesMax / 1024} kB`;
  const [width, height] = [picture.readUInt32BE(16), picture.readUInt32BE(20)]; // the IHDR chunk comes first
  if (width === 0 || height === 0 || width > sideMax || height > sideMax) return `is larger than ${sideMax} by ${sideMax} pixels`;
  return undefined;
}

/** Returns the logo to embed in pages, or undefined if pages show the first letter of the application name instead. */
export const getLogoUriIfPngDataUri = (uri: string | null | undefined): string | undefined =>
  uri?.startsWith(pngDataPrefix) ? uri : undefined;
