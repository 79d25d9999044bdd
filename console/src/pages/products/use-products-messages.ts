import { useMessages, type Translate } from '../../languages/use-messages.tsx';
import type products from './messages/en.json';

export type ProductsTranslate = Translate<typeof products>;
export const useProductsMessages = (): ProductsTranslate => useMessages<typeof products>('products');
