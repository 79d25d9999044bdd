import { useMessages, type Translate } from '../../languages/use-messages.tsx';
import type audit from './messages/en.json';

export type AuditTranslate = Translate<typeof audit>;
export const useAuditMessages = (): AuditTranslate => useMessages<typeof audit>('audit');
