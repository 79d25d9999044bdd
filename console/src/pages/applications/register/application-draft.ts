import type { ApplicationKind } from '../application-kinds.ts';
import { initialLimitFormValues, type LimitFormValues } from '../usage-and-order-limit-fields.tsx';
import type { Scope } from '../list-selectable-scopes.ts';

/** Values that the user has entered in the wizard. */
export type ApplicationDraft = {
  readonly name: string;
  readonly kind: ApplicationKind;
  readonly isFirstParty: boolean;
  /** One URI per line. */
  readonly redirectUris: string;
  readonly scopes: readonly Scope[];
  readonly limits: LimitFormValues;
};

export const emptyApplicationDraft: ApplicationDraft = {
  name: '',
  kind: 'web',
  isFirstParty: false,
  redirectUris: '',
  scopes: [],
  limits: initialLimitFormValues,
};

/** Returns the URIs in a string that contains one URI per line. */
export const splitLinesIntoUris = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
