import type { Product } from '@mandate/client-sdk';
import { useSyncExternalStore } from 'react';

export type CartLine = {
  readonly product: Pick<Product, 'id' | 'name' | 'category' | 'price' | 'currency'>;
  readonly quantity: number;
};

const storageKey = 'cart';
const listeners = new Set<() => void>();
let lines = readStoredLines();

// The event means that another tab has changed the cart.
addEventListener('storage', ({ key }) => {
  if (key !== storageKey) return;
  lines = readStoredLines();
  listeners.forEach((listener) => listener());
});

export const useCart = (): readonly CartLine[] => useSyncExternalStore(subscribe, () => lines);

/** Sets the quantity of a product; 0 removes the product. */
export function setCartQuantity(product: CartLine['product'], quantity: number): void {
  const { id, name, category, price, currency } = product;
  const line = { product: { id, name, category, price, currency }, quantity: Math.min(quantity, 99) };
  const others = lines.filter((other) => other.product.id !== id);
  const position = lines.findIndex((other) => other.product.id === id);
  if (quantity > 0) others.splice(position < 0 ? others.length : position, 0, line);
  store(others);
}

export function addToCart(product: CartLine['product']): void {
  const quantity = lines.find((line) => line.product.id === product.id)?.quantity ?? 0;
  setCartQuantity(product, quantity + 1);
}

export const clearCart = (): void => store([]);

function store(next: readonly CartLine[]): void {
  lines = next;
  localStorage.setItem(storageKey, JSON.stringify(next));
  listeners.forEach((listener) => listener());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function readStoredLines(): readonly CartLine[] {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `store` writes this entry
    return JSON.parse(localStorage.getItem(storageKey) ?? '[]') as CartLine[];
  } catch {
    return [];
  }
}
