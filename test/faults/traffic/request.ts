/** What came of a request. Status 0: no answer, or not all of it. */
export type Reply = { readonly status: number; readonly text: string };

/** Longer than a server takes for anything. */
const patienceMs = 25_000;

export async function ask(url: string, init: RequestInit = {}): Promise<Reply> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(patienceMs) });
    const text = await response.text();
    // 502: somebody in between says so
    return { status: response.status === 502 ? 0 : response.status, text };
  } catch (error) {
    return { status: 0, text: String(error) };
  }
}

/** Nothing was done, or nobody knows: it is asked again. */
export const isExcused = (status: number): boolean => status === 0 || status === 503;
