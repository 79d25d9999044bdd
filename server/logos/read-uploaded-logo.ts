import type { IncomingMessage } from 'node:http';
import { logoLimits } from '@mandate/contract';
import { createInvalidRequestProblem, createPayloadTooLargeProblem, createProblem } from '../http/problem-details/problem.ts';
import { translatable, type ProblemDetail } from '../http/problem-details/translatable-text.ts';
import { reduceChunkedBodyLimitTo } from '../http/request/reject-chunked-body-over-limit.ts';
import type { MatchedRequest } from '../http/request/matched-route.ts';
import { parseLogoImage, type LogoError, type LogoImage } from './parse-logo-image.ts';

const logoErrorTexts: Readonly<Record<LogoError, ProblemDetail>> = {
  too_many_bytes: translatable`The image is larger than ${{ bytes: logoLimits.bytes }} bytes. Send a smaller file.`,
  unsupported_format: 'The file is not a PNG, JPEG or WebP image. Convert it to one of these formats.',
  unsupported_size: translatable`The width and the height of the image must be between ${{ minimum: logoLimits.minSide }} and ${{ maximum: logoLimits.maxSide }} pixels. Resize the image.`,
};

type UploadRequest = MatchedRequest & IncomingMessage;

/** Reads and checks the image in the body of a request. */
export async function readUploadedLogo(req: UploadRequest): Promise<LogoImage> {
  const image = parseLogoImage(await readBody(req));
  if ('error' in image) throw createInvalidRequestProblem({ in: 'body', code: 'invalid_image', detail: logoErrorTexts[image.error] });
  return image;
}

/** Reads the body into memory, up to the maximum size of a logo. */
async function readBody(req: UploadRequest): Promise<Buffer> {
  const bodyMax = logoLimits.bytes;
  reduceChunkedBodyLimitTo(req, bodyMax);
  if (Number(req.get('content-length') ?? 0) > bodyMax) throw createPayloadTooLargeProblem(bodyMax);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // If reading stops early, the connection stays open, so that the client receives the error response.
    const body: AsyncIterable<Buffer> = req.iterator({ destroyOnReturn: false });
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > bodyMax) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw createProblem('invalid_request', { detail: 'The body is incomplete.', cause });
  }
  if (bytes > bodyMax) throw createPayloadTooLargeProblem(bodyMax);
  return Buffer.concat(chunks);
}
