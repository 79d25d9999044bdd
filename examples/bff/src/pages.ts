import {
  ApiError,
  AuthorizationError,
  formatDate,
  formatMoney,
  MandateError,
  type Order,
  type OrderSummary,
  type Product,
} from '@mandate/client-sdk';
import { html } from 'hono/html';

/** A rendered page. `html` escapes every inserted value. */
export type Page = ReturnType<typeof html>;

/** The signed-in customer. */
export type SignedInCustomer = { readonly name: string; readonly mayOrder: boolean };

const layout = (title: string, visitor: SignedInCustomer | undefined, content: Page): Page =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title} – Corner shop</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/style.css" />
      </head>
      <body>
        <header>
          <a class="brand" href="/">Corner shop</a>
          <nav aria-label="Account">
            ${
              visitor
                ? html`<a href="/orders">Your orders</a> <span>${visitor.name}</span>
                    <form method="post" action="/auth/sign-out"><button class="quiet">Sign out</button></form>`
                : html`<a class="button" href="/auth/sign-in">Sign in</a>`
            }
          </nav>
        </header>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`;

export const productsPage = (products: readonly Product[], search: string, visitor: SignedInCustomer | undefined): Page =>
  layout(
    'Products',
    visitor,
    html`<form class="search" role="search" action="/">
        <label>Search <input type="search" name="q" value="${search}" /></label> <button class="quiet">Search</button>
      </form>
      ${products.length === 0 ? html`<p>No product matches “${search}”. <a href="/">Show all products</a></p>` : ''}
      <ul class="products">
        ${products.map((product) => productCard(product, visitor))}
      </ul>`,
  );

const productCard = (product: Product, visitor: SignedInCustomer | undefined): Page =>
  html`<li>
    <article aria-label="${product.name}">
      <h2>${product.name}</h2>
      <p>${formatMoney(product.price, product.currency, 'en')}</p>
      ${visitor ? orderForm(product, visitor) : ''}
    </article>
  </li>`;

const orderForm = (product: Product, visitor: SignedInCustomer): Page =>
  product.stock === 0
    ? html`<p>Out of stock</p>`
    : html`<form method="post" action="/orders">
        <input type="hidden" name="product_id" value="${product.id}" />
        <input type="hidden" name="key" value="${crypto.randomUUID()}" />
        <label>Quantity <input type="number" name="quantity" min="1" max="99" value="1" required /></label>
        <button>${visitor.mayOrder ? 'Order' : 'Allow orders'}</button>
      </form>`;

export const ordersPage = (orders: readonly OrderSummary[], visitor: SignedInCustomer | undefined): Page =>
  layout(
    'Your orders',
    visitor,
    orders.length === 0
      ? html`<p>You have not ordered anything yet. <a href="/">Browse the products</a></p>`
      : html`<ul class="orders">
          ${orders.map(
            (order) =>
              html`<li>
                <a href="/orders/${order.id}">Order ${order.id}</a>
                <span>${formatDate(order.created_at, { locale: 'en', timeZone: 'UTC' })}</span>
                <span>${formatMoney(order.total, order.currency, 'en')}</span> <span class="status">${order.status}</span>
              </li>`,
          )}
        </ul>`,
  );

export const orderPage = (order: Order, visitor: SignedInCustomer | undefined): Page =>
  layout(
    `Order ${order.id}`,
    visitor,
    html`<p class="status">${order.status}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">Product</th>
            <th scope="col">Quantity</th>
            <th scope="col">Total</th>
          </tr>
        </thead>
        <tbody>
          ${order.items.map(
            (item) =>
              html`<tr>
                <td>${item.name}</td>
                <td>${item.quantity}</td>
                <td>${formatMoney(item.total, order.currency, 'en')}</td>
              </tr>`,
          )}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colspan="2">Total</th>
            <td>${formatMoney(order.total, order.currency, 'en')}</td>
          </tr>
        </tfoot>
      </table>
      <p><a href="/orders">All orders</a></p>`,
  );

/** Returns the page that describes an error or, if `error` is undefined, the page for a URL that does not exist. */
export function errorPage(error: Error | undefined): Page {
  if (!error) return layout('Page not found', undefined, html`<p>This page does not exist. <a href="/">Browse the products</a></p>`);
  const [title, text] = describeError(error);
  return layout(
    title,
    undefined,
    html`<p role="alert">${text}</p>
      <p><a href="/">Browse the products</a> or <a href="/auth/sign-in">sign in</a>.</p>`,
  );
}

function describeError(error: Error): readonly [title: string, text: string] {
  if (error instanceof AuthorizationError && error.error === 'access_denied')
    return ['You are not signed in', 'You did not allow the shop to use your account.'];
  if (error instanceof ApiError && error.status === 404) return ['Not found', 'It does not exist, or it belongs to another customer.'];
  // Only the SDK's messages are written for users. Other messages could reveal internal details.
  return ['Something went wrong', error instanceof MandateError ? error.message : 'Try again in a few minutes.'];
}
