/** Operations with a handwritten command, because they need more than one request, transfer a file or draw a chart. */
export const handwrittenCommandsByOperation: Readonly<Record<string, string>> = {
  'branding.setLogo': 'branding set-logo',
  'orderExports.create': 'orders export',
  'orderImports.create': 'orders import',
  'productImports.create': 'products import',
  'stats.orders': 'stats orders',
  'tasks.result': 'tasks result',
};
