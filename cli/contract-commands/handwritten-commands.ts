/** Operations with a handwritten command, because they need more than one request or transfer a file. */
export const handwrittenCommandsByOperation: Readonly<Record<string, string>> = {
  'branding.setLogo': 'branding set-logo',
  'orderExports.create': 'orders export',
  'orderImports.create': 'orders import',
  'productImports.create': 'products import',
  'tasks.result': 'tasks result',
};
