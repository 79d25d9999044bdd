type PkceSettings = {
  readonly allowNonceInsteadOfPkce?: boolean | undefined;
  readonly allowNeitherPkceNorNonce?: boolean | undefined;
};

/** Returns the fields of an application that allow authorization requests without PKCE. */
export const listPkceExceptionFields = ({ allowNonceInsteadOfPkce = false, allowNeitherPkceNorNonce = false }: PkceSettings) => [
  ...(allowNonceInsteadOfPkce ? (['allow_nonce_instead_of_pkce'] as const) : []),
  ...(allowNeitherPkceNorNonce ? (['allow_neither_pkce_nor_nonce'] as const) : []),
];
