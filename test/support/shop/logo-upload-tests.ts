import { describe, expect, test } from 'vitest';
import { createSquarePng } from '../browser/square-png.ts';
import type { JsonBody } from '../server/start-mandate.ts';
import { createWebpHeader } from './minimal-webp.ts';
import type { Account, Shop } from './with-shop.ts';

type LogoOwner = {
  readonly shop: Shop;
  /** Administrator who can change the logo. */
  readonly admin: Account;
  /** Path of the resource that has the logo. The resource's representation contains the field `logo`. */
  readonly path: () => string;
};

const readJson = async (response: Response): Promise<JsonBody> => JSON.parse(await response.text());

/** Defines tests that upload, serve, replace and delete the logo of a resource, and tests that upload files that are not valid logos. */
export function testLogoUploads({ shop, admin, path }: LogoOwner): void {
  const readResource = async (): Promise<JsonBody> => (await admin.callApi('GET', path())).body;
  const sendLogo = (init: RequestInit, contentType: string): Promise<Response> =>
    fetch(`${shop.origin}${path()}/logo`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${admin.token}`, 'content-type': contentType },
      ...init,
    });
  const putLogo = (body: NonNullable<RequestInit['body']>, contentType = 'image/png'): Promise<Response> => sendLogo({ body }, contentType);

  describe('the logo', () => {
    test('is served at a URL that changes with the image, with headers that prevent its use as a page', async () => {
      const set = await putLogo(createSquarePng(64));
      const resource = await readJson(set);
      expect([set.status, resource]).toEqual([200, await readResource()]);
      expect(resource.logo).toEqual({
        url: expect.stringMatching(/\/assets\/logo-[0-9a-f]{32}\.png$/),
        media_type: 'image/png',
        width: 64,
        height: 64,
      });
      const served = await fetch(resource.logo.url);
      expect(Buffer.from(await served.arrayBuffer())).toEqual(createSquarePng(64));
      expect(Object.fromEntries(served.headers)).toMatchObject({
        'content-type': 'image/png',
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        'content-security-policy': `default-src 'none'; sandbox`,
      });
      const { logo: replaced } = await readJson(await putLogo(createSquarePng(128)));
      expect([replaced.width, replaced.url === resource.logo.url]).toEqual([128, false]);
      expect((await fetch(resource.logo.url)).status).toBe(404);
      expect((await admin.callApi('DELETE', `${path()}/logo`)).status).toBe(204);
      expect([(await fetch(replaced.url)).status, (await readResource()).logo]).toEqual([404, null]);
    });

    test('has no ETag, so a precondition has no effect', async () => {
      const headers = { 'if-match': '"another"' };
      const webp = { ...headers, 'content-type': 'image/webp' };
      const set = await admin.callApi('PUT', `${path()}/logo`, { body: createWebpHeader(64, 64), headers: webp });
      expect([set.status, set.headers.get('etag')]).toEqual([200, null]);
      expect((await admin.callApi('DELETE', `${path()}/logo`, { headers })).status).toBe(204);
    });

    test('has the media type of its content, regardless of what the request declares', async () => {
      const { logo } = await readJson(await putLogo(createSquarePng(32), 'image/webp'));
      expect([logo.media_type, (await fetch(logo.url)).headers.get('content-type')]).toEqual(['image/png', 'image/png']);
    });

    const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`;
    test.each([
      ['an SVG', svg, 400, 'invalid_request'],
      ['HTML', '<html><script>alert(1)</script></html>', 400, 'invalid_request'],
      ['an empty file', '', 400, 'invalid_request'],
      ['a truncated header', createSquarePng(64).subarray(0, 20), 400, 'invalid_request'],
      ['a JPEG without size', new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xd9]), 400, 'invalid_request'],
      ['an image that is too small', createSquarePng(15), 400, 'invalid_request'],
      ['an image that is too wide', createWebpHeader(2049, 64), 400, 'invalid_request'],
      ['a file that is too large', new Uint8Array(262_145), 413, 'payload_too_large'],
    ])('cannot be %s', async (_, content, status, code) => {
      const { logo } = await readResource();
      const response = await putLogo(content);
      expect([response.status, (await readJson(response)).code]).toEqual([status, code]);
      expect((await readResource()).logo).toEqual(logo);
    });

    test('cannot have the media type of an SVG', async () => {
      const response = await putLogo(svg, 'image/svg+xml');
      expect([response.status, (await readJson(response)).code]).toEqual([415, 'unsupported_media_type']);
    });

    test('cannot be too large even if the request has no Content-Length', async () => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < 5; at += 1) controller.enqueue(new Uint8Array(65_536));
          controller.close();
        },
      });
      const response = await sendLogo({ body, duplex: 'half' }, 'image/png');
      expect([response.status, (await readJson(response)).code]).toEqual([413, 'payload_too_large']);
    });
  });
}
