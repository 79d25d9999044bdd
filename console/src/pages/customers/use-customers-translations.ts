import { useTranslations, type Translate } from '../../languages/use-translations.tsx';
import type customers from './messages/en.json';

export type CustomersTranslate = Translate<typeof customers>;
export const useCustomersTranslations = (): CustomersTranslate => useTranslations<typeof customers>('customers');
