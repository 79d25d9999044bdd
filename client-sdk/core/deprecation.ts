import type { Middleware } from './middleware.ts';

/** Deprecation of an operation. */
export type DeprecationNotice = {
  /** Name of the operation, such as `orders.create`, or its HTTP method and path if the operation has no SDK method. */
  readonly operation: string;
  readonly deprecatedAt: Date | undefined;
  /** End of support. After this time, the API responds with 410. */
  readonly sunsetAt: Date | undefined;
  /** URL of the migration guide. */
  readonly guide: string | undefined;
};

/**
 * Calls `onDeprecation` once for each operation whose responses have the `Deprecation` header (RFC 9745).
 * The end of support is read from the `Sunset` header (RFC 8594).
 */
export function createDeprecationMiddleware(onDeprecation: (notice: DeprecationNotice) => void): Middleware {
  const reported = new Set<string>();
  return async (request, next) => {
    const response = await next(request);
    const since = response.headers.get('deprecation');
    if (since === null) return response;
    const operation = request.operation ?? `${request.init.method} ${new URL(request.url).pathname.replaceAll(/\/\d+(?=\/|$)/g, '/{id}')}`;
    if (reported.has(operation)) return response;
    reported.add(operation);
    const sunset = response.headers.get('sunset');
    const [, guide] = /<([^>]*)>\s*;[^,]*\brel="?deprecation\b/.exec(response.headers.get('link') ?? '') ?? [];
    onDeprecation({
      operation,
      deprecatedAt: dateFromMs(Number(since.slice(1)) * 1000),
      sunsetAt: dateFromMs(Date.parse(sunset ?? '')),
      guide,
    });
    return response;
  };
}

const dateFromMs = (milliseconds: number): Date | undefined => (milliseconds ? new Date(milliseconds) : undefined);

/** Formats a notice as one line. */
export const formatDeprecationText = ({ operation, sunsetAt, guide }: DeprecationNotice): string =>
  `${operation} is deprecated${sunsetAt ? `; sunset on ${sunsetAt.toISOString().slice(0, 10)}` : ''}${guide ? `: ${guide}` : ''}`;

/** Prints a deprecation notice as a warning; used if `onDeprecation` is not set. */
export function printDeprecationWarning(notice: DeprecationNotice): void {
  // oxlint-disable-next-line no-console -- otherwise the developer would notice only when the operation fails
  console.warn(`Mandate: ${formatDeprecationText(notice)}`);
}
