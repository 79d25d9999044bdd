/**
 * Patterns of the last release whose syntax other languages do not support, each with a portable pattern that accepts the same strings.
 * Remove a pair once the baseline contains the portable pattern.
 */
export const equivalentPatterns: readonly (readonly [before: string, after: string])[] = [
  [
    String.raw`^(https:\/\/.{1,1992}|data:image\/png;base64,[A-Za-z0-9+/]+={0,2})$`,
    String.raw`^(https:\/\/(?:.{1,1000}|.{1000}.{1,992})|data:image\/png;base64,[A-Za-z0-9+/]+={0,2})$`,
  ],
  [
    String.raw`^[^\s"(),:;<>@[\\\]\p{Cc}]+@[^\s"(),:;<>@[\\\]\p{Cc}]+\.[^\s"(),:;<>@[\\\]\p{Cc}]+$`,
    String.raw`^[^\s"(),:;<>@\[\\\]\x00-\x1f\x7f-\x9f]+@[^\s"(),:;<>@\[\\\]\x00-\x1f\x7f-\x9f]+\.[^\s"(),:;<>@\[\\\]\x00-\x1f\x7f-\x9f]+$`,
  ],
];

/**
 * Pattern of required text, from which the server removes leading and trailing white space. The server in the last release had the same
 * rule, but its document had no pattern. Remove this exception once the baseline contains the pattern.
 */
const requiredText = String.raw`\S`;

export const arePatternsEquivalent = (before: unknown, after: unknown): boolean =>
  (before === undefined && after === requiredText) || equivalentPatterns.some(([first, second]) => first === before && second === after);
