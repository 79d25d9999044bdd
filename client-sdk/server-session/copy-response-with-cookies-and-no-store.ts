/** Returns the response with additional cookies. The response must not be cached, because a cache would send the cookies to other users. */
export function copyResponseWithCookiesAndNoStore(response: Response, cookies: readonly string[]): Response {
  const { status, statusText, body } = response;
  const headers = new Headers(response.headers);
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  headers.set('cache-control', 'no-store');
  return new Response(body, { status, statusText, headers });
}
