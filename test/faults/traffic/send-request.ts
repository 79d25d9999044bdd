/** Result of a request. Status 0 means that no complete response arrived. */
export type HttpResult = { readonly status: number; readonly text: string };

/** Request timeout, which is longer than the slowest server response. */
const requestTimeoutMs = 25_000;

export async function sendRequest(url: string, init: RequestInit = {}): Promise<HttpResult> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(requestTimeoutMs) });
    const text = await response.text();
    // status 502 comes from a proxy and means that no server has responded
    return { status: response.status === 502 ? 0 : response.status, text };
  } catch (error) {
    return { status: 0, text: String(error) };
  }
}

/** Returns whether the request must be retried, because it failed or its result is unknown. */
export const isUnavailable = (status: number): boolean => status === 0 || status === 503;
