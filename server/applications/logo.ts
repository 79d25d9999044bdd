/** What is put into a page itself: nobody learns from a picture that the page was opened, and by whom. */
const inline = 'data:image/png;base64,';
const sideMax = 512;
const bytesMax = 32_768;
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** What is wrong with an address of a logo, or undefined. An https address is kept for whoever asks; no page of ours loads it. */
export function logoFault(uri: string): string | undefined {
  if (uri.startsWith('https://')) return undefined;
  if (!uri.startsWith(inline)) return 'must be an https address, or a PNG as a data: URI';
  const picture = Buffer.from(uri.slice(inline.length), 'base64');
  if (!picture.subarray(0, 8).equals(signature) || picture.length < 33) return 'is not a PNG';
  if (picture.length > bytesMax) return `is larger than ${bytesMax / 1024} kB`;
  const [width, height] = [picture.readUInt32BE(16), picture.readUInt32BE(20)]; // IHDR comes first
  if (width === 0 || height === 0 || width > sideMax || height > sideMax) return `is larger than ${sideMax} by ${sideMax} pixels`;
  return undefined;
}

/** The logo as pages show it; undefined where they show the first letter instead. */
export const shownLogo = (uri: string | null | undefined): string | undefined => (uri?.startsWith(inline) ? uri : undefined);
