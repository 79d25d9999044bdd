import { formatMoney } from '@mandate/client-sdk';
import { useSession } from '@mandate/client-sdk/react';
import type { ReactNode } from 'react';
import { clearCart, setCartQuantity, useCart, type CartLine } from './cart.ts';
import { FailureNotice } from './notice.tsx';
import { ProductPicture } from './product-picture.tsx';
import { usePlaceOrder } from './use-place-order.ts';

export function CartPage({ canOrder }: { readonly canOrder: boolean }): ReactNode {
  const lines = useCart();
  const { signIn } = useSession();
  const order = usePlaceOrder(clearCart);
  const currency = lines[0]?.product.currency ?? 'EUR';
  const total = lines.reduce((sum, { product, quantity }) => sum + product.price * quantity, 0);
  const items = lines.map(({ product, quantity }) => ({ product_id: product.id, quantity }));
  return (
    <section aria-labelledby="cart">
      <h1 id="cart">Cart</h1>
      {lines.length === 0 ? (
        <p>
          Your cart is empty. <a href="#/">Browse the products</a>
        </p>
      ) : (
        <>
          <ul className="lines">
            {lines.map((line) => (
              <li key={line.product.id}>
                <CartRow line={line} />
              </li>
            ))}
          </ul>
          <p className="total">
            Total <strong>{formatMoney(total, currency)}</strong>
          </p>
          {canOrder ? (
            <button disabled={order.isPending} onClick={() => order.place(items)}>
              Place order
            </button>
          ) : (
            <button onClick={() => void signIn()}>Sign in to order</button>
          )}
        </>
      )}
      <FailureNotice error={order.error} />
    </section>
  );
}

function CartRow({ line: { product, quantity } }: { readonly line: CartLine }): ReactNode {
  return (
    <article aria-label={product.name}>
      <ProductPicture product={product} />
      <h2>{product.name}</h2>
      <label>
        Quantity{' '}
        <input
          type="number"
          min={1}
          max={99}
          value={quantity}
          onChange={(event) => setCartQuantity(product, event.target.valueAsNumber || 1)}
        />
      </label>
      <p className="price">{formatMoney(product.price * quantity, product.currency)}</p>
      <button className="quiet" onClick={() => setCartQuantity(product, 0)}>
        Remove
      </button>
    </article>
  );
}
