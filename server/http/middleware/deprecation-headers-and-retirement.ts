import type { RequestHandler } from 'express';
import { type ApiVersion, type Deprecation, getRouteMetadata } from '@mandate/contract';
import { createProblem } from '../problem-details/problem.ts';
import { translatable } from '../problem-details/translatable-text.ts';
import { getMatchedRoute } from '../request/matched-route.ts';

/**
 * Adds the `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) headers and a link to the migration guide to responses of deprecated
 * operations and versions. After the sunset date, requests fail with `version_retired`.
 */
export const addDeprecationHeadersOrRejectRetired =
  (versions: readonly ApiVersion[], now: () => Date): RequestHandler =>
  (req, res, next) => {
    const route = getMatchedRoute(req);
    const version = versions.find(({ name }) => route.path.startsWith(`/api/${name}/`));
    const deprecation = combineDeprecations(getRouteMetadata(route).deprecated, version?.deprecated);
    if (!deprecation) return next();
    const { since, sunset, guide } = deprecation;
    const links = [`<${guide}>; rel="deprecation"; type="text/html"`];
    res.set('Deprecation', `@${Math.floor(Date.parse(since) / 1000)}`);
    if (sunset !== undefined) {
      links.push(`<${guide}>; rel="sunset"; type="text/html"`);
      res.set('Sunset', new Date(sunset).toUTCString());
    }
    res.append('Link', links);
    if (sunset === undefined || now() < new Date(sunset)) return next();
    throw createProblem('version_retired', {
      detail: translatable`Support ended on ${{ day: sunset.slice(0, 10) }}. Migration guide: ${{ guide }}`,
    });
  };

/** Combines the deprecations of an operation and of its version; the earlier dates take precedence. */
function combineDeprecations(one: Deprecation | undefined, other: Deprecation | undefined): Deprecation | undefined {
  if (!one || !other) return one ?? other;
  const since = Date.parse(one.since) <= Date.parse(other.since) ? one.since : other.since;
  return { ...(sunsetTime(one) <= sunsetTime(other) ? one : other), since };
}

const sunsetTime = ({ sunset }: Deprecation): number => (sunset === undefined ? Infinity : Date.parse(sunset));
