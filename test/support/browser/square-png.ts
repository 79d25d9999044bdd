import { crc32, deflateSync } from 'node:zlib';
import { parseLogoImage, type LogoImage } from '../../../server/logos/parse-logo-image.ts';

/** Returns a PNG image of a single-color square. */
export function createSquarePng(width: number): Buffer<ArrayBuffer> {
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(width * 3, 0x4b)]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(width, 4);
  header.set([8, 2], 8);
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    checksum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, checksum]);
  };
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(Array.from({ length: width }, () => row)))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Returns a PNG image of a single-color square as a `data:` URI. */
export const createSquarePngDataUri = (width: number): string => `data:image/png;base64,${createSquarePng(width).toString('base64')}`;

/** Returns a PNG image of a single-color square in the format in which the server stores logos. */
export function createSquareLogo(width: number): LogoImage {
  const logo = parseLogoImage(createSquarePng(width));
  if ('error' in logo) throw new Error(logo.error);
  return logo;
}
