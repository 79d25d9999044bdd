import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { Notice } from './notice.tsx';
import { Orders } from './orders.tsx';
import { Products } from './products.tsx';
import { customer, signIn } from './shop.ts';

export function App({ signedIn: atFirst, notice }: { readonly signedIn: boolean; readonly notice: string | undefined }): ReactNode {
  const [signedIn, setSignedIn] = useState(atFirst);
  const [failure, setFailure] = useState(notice);
  const queryClient = useQueryClient();
  useEffect(
    () =>
      signIn.onChange(() => {
        // Removes cached data of the previous customer, in every tab.
        queryClient.clear();
        void signIn.signedIn().then(setSignedIn);
      }),
    [queryClient],
  );
  const attempt = (action: Promise<unknown>): void => {
    setFailure(undefined);
    action.catch((error: unknown) => setFailure(error instanceof Error ? error.message : String(error)));
  };
  return (
    <>
      <header>
        <h1>Storefront</h1>
        {signedIn ? (
          <p>
            <WhoAmI /> <button onClick={() => attempt(signIn.signOut())}>Sign out</button>
          </p>
        ) : (
          <p>
            <button onClick={() => attempt(signIn.redirect())}>Sign in</button>{' '}
            <button className="quiet" onClick={() => attempt(signIn.popup())}>
              Sign in in a window
            </button>
          </p>
        )}
      </header>
      <main>
        <Notice>{failure}</Notice>
        {signedIn && <Orders />}
        <Products canOrder={signedIn} />
      </main>
    </>
  );
}

function WhoAmI(): ReactNode {
  const { data: user } = useQuery(customer.queries.users.me());
  return <span>{user?.name}</span>;
}
