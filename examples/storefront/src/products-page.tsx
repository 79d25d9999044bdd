import { formatMoney, type Product } from '@mandate/client-sdk';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { addToCart } from './cart.ts';
import { formatProductsHash, type Route } from './location-route.ts';
import { FailureNotice } from './notice.tsx';
import { ProductPicture } from './product-picture.tsx';
import { visitorApi } from './shop.ts';
import { usePlaceOrder } from './use-place-order.ts';

type ProductsRoute = Extract<Route, { page: 'products' }>;

export function ProductsPage({ route, canOrder }: { readonly route: ProductsRoute; readonly canOrder: boolean }): ReactNode {
  const { category, search } = route;
  const filters = { ...(category && { category }), ...(search && { q: search }) };
  const products = useInfiniteQuery(visitorApi.infiniteQueries.products.list({ status: ['active'], limit: 12, ...filters }));
  const found = products.data?.pages.flatMap((page) => page.data);
  return (
    <section aria-labelledby="products">
      <h1 id="products">Products</h1>
      <SearchForm key={search} route={route} />
      <Categories route={route} />
      <FailureNotice error={products.error} onRetry={() => void products.refetch()} />
      {products.isPending && <p>Loading the products …</p>}
      {found?.length === 0 && (
        <p>
          No product matches. <a href="#/">Show all products</a>
        </p>
      )}
      <ul className="products">
        {found?.map((product) => (
          <li key={product.id}>
            <ProductCard product={product} canOrder={canOrder} />
          </li>
        ))}
      </ul>
      {products.hasNextPage && (
        <button className="quiet" onClick={() => void products.fetchNextPage()}>
          More
        </button>
      )}
    </section>
  );
}

function SearchForm({ route: { category, search } }: { readonly route: ProductsRoute }): ReactNode {
  return (
    <form
      className="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const term = new FormData(event.currentTarget).get('q');
        location.hash = formatProductsHash({ category, search: typeof term === 'string' ? term.trim() : '' });
      }}
    >
      <label>
        Search <input type="search" name="q" defaultValue={search} />
      </label>
      <button className="quiet">Search</button>
    </form>
  );
}

function Categories({ route: { category, search } }: { readonly route: ProductsRoute }): ReactNode {
  const categories = useQuery(visitorApi.queries.productCategories.list({ limit: 20 }));
  const names = ['', ...(categories.data?.data.map((one) => one.category) ?? [])];
  return (
    <nav aria-label="Categories" className="categories">
      {names.map((name) => (
        <a key={name} href={formatProductsHash({ category: name, search })} aria-current={name === category ? 'page' : undefined}>
          {name === '' ? 'All' : name.replaceAll('-', ' ')}
        </a>
      ))}
    </nav>
  );
}

function ProductCard({ product, canOrder }: { readonly product: Product; readonly canOrder: boolean }): ReactNode {
  const order = usePlaceOrder();
  const isAvailable = product.stock !== 0; // `null` means that the stock is not tracked
  return (
    <article aria-label={product.name}>
      <ProductPicture product={product} />
      <h2>{product.name}</h2>
      <p className="price">{formatMoney(product.price, product.currency)}</p>
      {isAvailable ? (
        <p className="actions">
          <button className="quiet" onClick={() => addToCart(product)}>
            Add to cart
          </button>
          {canOrder && (
            <button disabled={order.isPending} onClick={() => order.place([{ product_id: product.id, quantity: 1 }])}>
              Order
            </button>
          )}
        </p>
      ) : (
        <p className="status">Out of stock</p>
      )}
      <FailureNotice error={order.error} />
    </article>
  );
}
