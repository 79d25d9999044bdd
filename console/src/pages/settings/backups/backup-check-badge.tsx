import type { Backup } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { StatusBadge, type StatusTone } from '../../../components/feedback/status-badge.tsx';
import { useSettingsTranslations } from '../use-settings-translations.ts';

const tones: Readonly<Record<string, StatusTone>> = { intact: 'positive', damaged: 'critical', unchecked: 'warning' };

/** Result of a backup's last check. */
export function BackupCheckBadge({ backup: { check_result: result } }: { readonly backup: Backup }): ReactNode {
  const t = useSettingsTranslations();
  const state = result ?? 'unchecked';
  return <StatusBadge tone={tones[state] ?? 'neutral'}>{t.value('backupState', state)}</StatusBadge>;
}
