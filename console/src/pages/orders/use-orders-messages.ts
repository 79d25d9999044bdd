import { useMessages, type Translate } from '../../languages/use-messages.tsx';
import type orders from './messages/en.json';

export type OrdersTranslate = Translate<typeof orders>;
export const useOrdersMessages = (): OrdersTranslate => useMessages<typeof orders>('orders');
