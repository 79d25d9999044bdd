import { formatMoney, type Product } from '@mandate/client-sdk';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Notice } from './notice.tsx';
import { customer, visitor } from './shop.ts';

export function Products({ canOrder }: { readonly canOrder: boolean }): ReactNode {
  const products = useInfiniteQuery(visitor.infiniteQueries.products.list({ status: ['active'], limit: 12 }));
  return (
    <section aria-labelledby="products">
      <h2 id="products">Products</h2>
      <Notice>{products.error?.message}</Notice>
      <ul className="products">
        {products.data?.pages.flatMap((page) =>
          page.data.map((product) => (
            <li key={product.id}>
              <ProductCard product={product} canOrder={canOrder} />
            </li>
          )),
        )}
      </ul>
      {products.hasNextPage && (
        <button className="quiet" onClick={() => void products.fetchNextPage()}>
          More
        </button>
      )}
    </section>
  );
}

function ProductCard({ product, canOrder }: { readonly product: Product; readonly canOrder: boolean }): ReactNode {
  const [quantity, setQuantity] = useState(1);
  const queryClient = useQueryClient();
  const order = useMutation({
    ...customer.mutations.orders.create(),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: customer.keyOf('orders') }),
  });
  const place = (): void =>
    order.mutate({
      items: [{ product_id: product.id, quantity }],
      delivery: { method: 'collection', recipient_name: 'Collected in the shop' },
    });
  return (
    <article aria-label={product.name}>
      <h3>{product.name}</h3>
      <p>{formatMoney(product.price, product.currency)}</p>
      {canOrder && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            place();
          }}
        >
          <label>
            Quantity{' '}
            <input type="number" min={1} max={99} value={quantity} onChange={(event) => setQuantity(event.target.valueAsNumber || 1)} />
          </label>
          <button disabled={order.isPending}>Order</button>
        </form>
      )}
      <Notice>{order.error?.message}</Notice>
    </article>
  );
}
