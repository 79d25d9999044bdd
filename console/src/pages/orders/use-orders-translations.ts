import { useTranslations, type Translate } from '../../languages/use-translations.tsx';
import type orders from './messages/en.json';

export type OrdersTranslate = Translate<typeof orders>;
export const useOrdersTranslations = (): OrdersTranslate => useTranslations<typeof orders>('orders');
