import { useMessages, type Translate } from '../../languages/use-messages.tsx';
import type customers from './messages/en.json';

export type CustomersTranslate = Translate<typeof customers>;
export const useCustomersMessages = (): CustomersTranslate => useMessages<typeof customers>('customers');
