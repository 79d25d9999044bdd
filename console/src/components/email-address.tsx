import { Fragment, type ReactNode } from 'react';

/** An e-mail address that breaks only before the @ and after dots if possible, because a break inside a word is hard to read. */
export function EmailAddress({ email }: { readonly email: string }): ReactNode {
  return email.split(/(?=@)|(?<=\.)/).map((part, index) => (
    // Parts can be equal, and never change their order.
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
