import { useTranslations, type Translate } from '../../languages/use-translations.tsx';
import type audit from './messages/en.json';

export type AuditTranslate = Translate<typeof audit>;
export const useAuditTranslations = (): AuditTranslate => useTranslations<typeof audit>('audit');
