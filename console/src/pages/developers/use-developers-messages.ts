import { useMessages, type Translate } from '../../languages/use-messages.tsx';
import type developers from './messages/en.json';

export type DevelopersTranslate = Translate<typeof developers>;
export const useDevelopersMessages = (): DevelopersTranslate => useMessages<typeof developers>('developers');
