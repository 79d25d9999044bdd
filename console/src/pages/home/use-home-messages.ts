import { useMessages, type Translate } from '../../languages/use-messages.tsx';
import type home from './messages/en.json';

export type HomeTranslate = Translate<typeof home>;
export const useHomeMessages = (): HomeTranslate => useMessages<typeof home>('home');
