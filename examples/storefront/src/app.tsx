import { useSession } from '@mandate/client-sdk/react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, type ReactNode } from 'react';
import { CartPage } from './cart-page.tsx';
import { useCart } from './cart.ts';
import { useLiveOrders } from './live-orders.ts';
import { useRoute, type Route } from './location-route.ts';
import { FailureNotice } from './notice.tsx';
import { OrderPage } from './order-page.tsx';
import { OrdersPage } from './orders-page.tsx';
import { ProductsPage } from './products-page.tsx';
import { customerApi } from './shop.ts';

export function App(): ReactNode {
  const session = useSession();
  const queryClient = useQueryClient();
  const isSignedIn = session.status === 'signed-in';
  const pollingInterval = useLiveOrders(isSignedIn);
  const route = useRoute();
  const main = useFocusOnPageChange(route);
  useEffect(() => {
    // Removes the previous customer's cached data in every tab.
    if (session.status !== 'signed-out') return;
    for (const resource of ['orders', 'users'] as const) queryClient.removeQueries({ queryKey: customerApi.keyOf(resource) });
  }, [session.status, queryClient]);
  return (
    <>
      <Header isSignedIn={isSignedIn} />
      <main ref={main} tabIndex={-1}>
        <FailureNotice error={session.error} />
        {session.status !== 'loading' && <CurrentPage route={route} isSignedIn={isSignedIn} pollingInterval={pollingInterval} />}
      </main>
    </>
  );
}

const pageTitles: Readonly<Record<Route['page'], string>> = { products: 'Products', cart: 'Cart', orders: 'Your orders', order: 'Order' };

/** Sets the window title and moves the focus to the new page, so that screen readers announce the page. */
function useFocusOnPageChange({ page }: Route) {
  const main = useRef<HTMLElement>(null);
  const shownPage = useRef(page);
  useEffect(() => {
    document.title = `${pageTitles[page]} – Storefront`;
    if (shownPage.current === page) return;
    shownPage.current = page;
    main.current?.focus();
  }, [page]);
  return main;
}

type PageProps = { readonly route: Route; readonly isSignedIn: boolean; readonly pollingInterval: number | false };

function CurrentPage({ route, isSignedIn, pollingInterval }: PageProps): ReactNode {
  if (route.page === 'products') return <ProductsPage route={route} canOrder={isSignedIn} />;
  if (route.page === 'cart') return <CartPage canOrder={isSignedIn} />;
  if (!isSignedIn) return <SignInRequired />;
  if (route.page === 'orders') return <OrdersPage pollingInterval={pollingInterval} />;
  return <OrderPage orderId={route.orderId} pollingInterval={pollingInterval} />;
}

function SignInRequired(): ReactNode {
  const { signIn } = useSession();
  return (
    <p>
      <button onClick={() => void signIn()}>Sign in to see your orders</button>
    </p>
  );
}

function Header({ isSignedIn }: { readonly isSignedIn: boolean }): ReactNode {
  const { status, signIn, signInWithPopup, signOut } = useSession();
  const count = useCart().reduce((sum, { quantity }) => sum + quantity, 0);
  return (
    <header>
      <a className="brand" href="#/">
        Storefront
      </a>
      <nav aria-label="Shop">
        {isSignedIn && <a href="#/orders">Your orders</a>}
        <a href="#/cart">
          Cart <span className="badge">{count}</span>
        </a>
        {isSignedIn && (
          <>
            <WhoAmI />
            <button className="quiet" onClick={() => void signOut()}>
              Sign out
            </button>
          </>
        )}
        {status === 'signed-out' && (
          <>
            <button onClick={() => void signIn()}>Sign in</button>
            <button className="quiet" onClick={() => void signInWithPopup()}>
              Sign in with a pop-up
            </button>
          </>
        )}
      </nav>
    </header>
  );
}

function WhoAmI(): ReactNode {
  const { data: user } = useQuery(customerApi.queries.users.me());
  return <span>{user?.name}</span>;
}
