import { sha256 } from '../../crypto/sha256.ts';

/** Returns the path of a static file. The path contains a content hash, so that caches can store the file indefinitely. */
export const createAssetPathWithContentHash = (content: string | Buffer, extension: string): string =>
  `/assets/${sha256(content, 'hex').slice(0, 16)}.${extension}`;
