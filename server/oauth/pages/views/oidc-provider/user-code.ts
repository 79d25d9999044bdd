/** Sample user code. The sample has the format of a user code, but contains vowels, which real user codes never contain. */
export const sampleUserCode = 'ABCD-EFGH';

/** Formats a user code as `ABCD-EFGH`. Returns the first 20 characters of any other input. */
export const formatUserCode = (code: string): string => {
  const letters = code.toUpperCase().replaceAll(/[^A-Z]/g, '');
  return letters.length === 8 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : code.slice(0, 20);
};

/** Returns the formatted user code from a link (`verification_uri_complete`), or an empty string if the link contains no code. */
export const userCodeFromUrl = (url: string): string =>
  formatUserCode(new URLSearchParams(url.split('?', 2)[1] ?? '').get('user_code') ?? '');
