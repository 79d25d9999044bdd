import { CommandFailure } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { isObject } from '../contract-commands/schema-violations.ts';

/** Later than any token: one that says nothing of its end is used until the service refuses it. */
const noEnd = 8.64e15;

/** What can be read from a token that somebody got elsewhere: an access token says when it ends and what it is for, an API key does not. */
export function readGivenToken(text: string): { readonly accessToken: string; readonly expiresAt: number; readonly scopes: string[] } {
  const accessToken = text.trim();
  if (!/^[A-Za-z0-9._~+/-]{8,4096}=*$/.test(accessToken)) {
    throw new CommandFailure(exitCodes.usage, 'usage', 'Standard input is not a token', {
      hint: 'Give it like this: mandate login --with-token < token.txt',
    });
  }
  const claims = claimsOf(accessToken);
  return { accessToken, expiresAt: typeof claims['exp'] === 'number' ? claims['exp'] * 1000 : noEnd, scopes: scopesOfToken(accessToken) };
}

/** The scopes that an access token names; none for an API key. */
export function scopesOfToken(token: string): string[] {
  const { scope } = claimsOf(token);
  return typeof scope === 'string' ? scope.split(' ') : [];
}

function claimsOf(token: string): Record<string, unknown> {
  const [, payload = '', signature] = token.split('.');
  if (signature === undefined) return {};
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return isObject(claims) ? claims : {};
  } catch {
    return {};
  }
}
