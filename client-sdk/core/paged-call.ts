import { Call, type ResponseWithData } from './api-call.ts';
import { DecodeError } from './errors.ts';

/** One page of a list. */
export type Page = { readonly data: readonly unknown[]; readonly has_more: boolean; readonly next_cursor: string | null };

/**
 * A paginated list. Awaiting the call returns the first page; `for await` iterates over the items of all pages, which are fetched on
 * demand.
 */
export class PagedCall<P extends Page, Problems = Record<string, number>>
  extends Call<P, Problems>
  implements AsyncIterable<P['data'][number]>
{
  readonly #nextPage: (cursor: string) => Promise<ResponseWithData<P>>;

  constructor(firstPage: Promise<ResponseWithData<P>>, nextPage: (cursor: string) => Promise<ResponseWithData<P>>) {
    super(firstPage);
    this.#nextPage = nextPage;
    // Prevents an unhandled rejection before the iteration starts; the first iteration step reports the error.
    firstPage.catch(() => undefined);
  }

  /** Iterates over the pages. */
  async *pages(): AsyncGenerator<P, void, undefined> {
    let response = await this.withResponse();
    for (;;) {
      yield response.data;
      const { next_cursor: cursor } = response.data;
      if (cursor === null) return;
      const next = await this.#nextPage(cursor);
      if (next.data.next_cursor === cursor) throw new DecodeError(next, 'the next page has the same cursor');
      response = next;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<P['data'][number], void, undefined> {
    for await (const page of this.pages()) {
      const items: readonly P['data'][number][] = page.data;
      yield* items;
    }
  }

  /** Returns at most `max` items. The limit is required, because a whole list might not fit in memory. */
  async toArray({ max }: { readonly max: number }): Promise<P['data'][number][]> {
    const items: P['data'][number][] = [];
    if (max <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= max) break;
    }
    return items;
  }
}
