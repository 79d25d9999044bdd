import { useSyncExternalStore } from 'react';

/** The page that is identified by the URL fragment, such as `#/orders/7`. */
export type Route =
  | { readonly page: 'products'; readonly category: string; readonly search: string }
  | { readonly page: 'cart' }
  | { readonly page: 'orders' }
  | { readonly page: 'order'; readonly orderId: number };

export function useRoute(): Route {
  return routeFromHash(useSyncExternalStore(subscribeToHash, () => location.hash));
}

export function routeFromHash(hash: string): Route {
  const [path = '', query] = hash.replace(/^#/, '').split('?');
  const parameters = new URLSearchParams(query);
  const orderId = /^\/orders\/(\d+)$/.exec(path)?.[1];
  if (orderId !== undefined) return { page: 'order', orderId: Number(orderId) };
  if (path === '/orders') return { page: 'orders' };
  if (path === '/cart') return { page: 'cart' };
  return { page: 'products', category: parameters.get('category') ?? '', search: parameters.get('q') ?? '' };
}

/** Returns the URL fragment of the products page with these filters. */
export function formatProductsHash(filters: { readonly category?: string; readonly search?: string }): string {
  const parameters = new URLSearchParams();
  if (filters.category) parameters.set('category', filters.category);
  if (filters.search) parameters.set('q', filters.search);
  return `#/?${parameters.toString()}`;
}

function subscribeToHash(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}
