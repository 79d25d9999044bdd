import type { Middleware } from './middleware.ts';

/** That an operation should not be used any more. */
export type DeprecationNotice = {
  /** The operation, such as `orders.create`; method and path of what has no method of its own. */
  readonly operation: string;
  readonly deprecatedAt: Date | undefined;
  /** When it ends; from then on it answers 410. */
  readonly sunsetAt: Date | undefined;
  /** Where to read what to use instead. */
  readonly guide: string | undefined;
};

/** Tells once of each operation whose answers say that it is deprecated (RFC 9745), and until when it works (RFC 8594). */
export function watchDeprecations(tell: (notice: DeprecationNotice) => void): Middleware {
  const told = new Set<string>();
  return async (request, next) => {
    const response = await next(request);
    const since = response.headers.get('deprecation');
    if (since === null) return response;
    const operation = request.operation ?? `${request.init.method} ${new URL(request.url).pathname.replaceAll(/\/\d+(?=\/|$)/g, '/{id}')}`;
    if (told.has(operation)) return response;
    told.add(operation);
    const sunset = response.headers.get('sunset');
    const [, guide] = /<([^>]*)>\s*;[^,]*\brel="?deprecation\b/.exec(response.headers.get('link') ?? '') ?? [];
    tell({ operation, deprecatedAt: moment(Number(since.slice(1)) * 1000), sunsetAt: moment(Date.parse(sunset ?? '')), guide });
    return response;
  };
}

const moment = (milliseconds: number): Date | undefined => (milliseconds ? new Date(milliseconds) : undefined);

/** The notice in one line. */
export const deprecationText = ({ operation, sunsetAt, guide }: DeprecationNotice): string =>
  `${operation} is deprecated${sunsetAt ? ` and ends on ${sunsetAt.toISOString().slice(0, 10)}` : ''}${guide ? `: ${guide}` : ''}`;

/** What happens where the program takes no notice itself. */
export function warnOfDeprecation(notice: DeprecationNotice): void {
  // oxlint-disable-next-line no-console -- for whoever keeps the program, who would hear of it on the day it ends otherwise
  console.warn(`Mandate: ${deprecationText(notice)}`);
}
