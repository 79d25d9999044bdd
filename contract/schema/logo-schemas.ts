import { z } from 'zod';

/** Limits for uploaded logos. Width and height are in pixels. */
export const logoLimits = { bytes: 256 * 1024, minSide: 16, maxSide: 2048 } as const;
export const logoMediaTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;

/** An uploaded logo in a response. */
export const logoSchema = z.object({
  url: z.string().url().describe('URL of the image. The URL changes whenever the image changes.'),
  media_type: z.enum(logoMediaTypes),
  width: z.number().int().min(logoLimits.minSide).max(logoLimits.maxSide),
  height: z.number().int().min(logoLimits.minSide).max(logoLimits.maxSide),
});

/** The body of an upload. */
export const logoBodySchema = z.custom<string | Uint8Array | Blob | ReadableStream<Uint8Array>>();

export const logoUploadRouteMetadata = { consumes: logoMediaTypes, bodyMax: logoLimits.bytes } as const;

/** Describes the accepted images for the API reference and the command help. */
export const acceptedLogosText = `The image must be a PNG, JPEG or WebP file. The server checks only the image header, and stores and serves the image unchanged. The width and the height must be between ${logoLimits.minSide} and ${logoLimits.maxSide} pixels.`;

export type Logo = z.output<typeof logoSchema>;
