/** Sample of a user code. It has the format of user codes, but also vowels, so it is never the code of a device. */
export const sampleUserCode = 'ABCD-EFGH';

/** Formats a user code as `ABCD-EFGH`. Returns other input unchanged, up to 20 characters. */
export const formatUserCode = (code: string): string => {
  const letters = code.toUpperCase().replaceAll(/[^A-Z]/g, '');
  return letters.length === 8 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : code.slice(0, 20);
};

/** Returns the formatted user code of a link that contains the code (`verification_uri_complete`), or an empty string. */
export const userCodeFromUrl = (url: string): string =>
  formatUserCode(new URLSearchParams(url.split('?', 2)[1] ?? '').get('user_code') ?? '');
