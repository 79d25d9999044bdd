import { useTranslations, type Translate } from '../../languages/use-translations.tsx';
import type products from './messages/en.json';

export type ProductsTranslate = Translate<typeof products>;
export const useProductsTranslations = (): ProductsTranslate => useTranslations<typeof products>('products');
