/** Operations that have a command of their own, because there is more to them than a request and an answer. */
export const byHand: Readonly<Record<string, string>> = {
  'orderExports.create': 'orders export',
  'orderImports.create': 'orders import',
  'productImports.create': 'products import',
  'tasks.result': 'tasks result',
};
