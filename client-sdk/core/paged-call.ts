import { Call, type Answer } from './call.ts';
import { DecodeError } from './errors.ts';

/** The envelope of every list. */
export type Page = { readonly data: readonly unknown[]; readonly has_more: boolean; readonly next_cursor: string | null };

/** A list. Awaiting it gives the first page; `for await` goes through the items of all pages, asking for each when it is needed. */
export class PagedCall<P extends Page, Problems = Record<string, number>>
  extends Call<P, Problems>
  implements AsyncIterable<P['data'][number]>
{
  readonly #nextPage: (cursor: string) => Promise<Answer<P>>;

  constructor(firstPage: Promise<Answer<P>>, nextPage: (cursor: string) => Promise<Answer<P>>) {
    super(firstPage);
    this.#nextPage = nextPage;
    // Between the call and the first step of an iteration nobody listens; the failure is told at that step.
    firstPage.catch(() => undefined);
  }

  async *pages(): AsyncGenerator<P, void, undefined> {
    let answer = await this.withResponse();
    for (;;) {
      yield answer.data;
      const { next_cursor: cursor } = answer.data;
      if (cursor === null) return;
      const next = await this.#nextPage(cursor);
      if (next.data.next_cursor === cursor) throw new DecodeError(next.status, next.headers, 'the list leads back to the same page');
      answer = next;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<P['data'][number], void, undefined> {
    for await (const page of this.pages()) {
      const items: readonly P['data'][number][] = page.data;
      yield* items;
    }
  }

  /** At most `max` items: a list can be longer than memory. */
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
