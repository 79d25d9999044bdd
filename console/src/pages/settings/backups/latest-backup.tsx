import type { Backup } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { EmptyState } from '../../../components/feedback/empty-state.tsx';
import { Notice } from '../../../components/feedback/notice.tsx';
import { Card } from '../../../components/page-sections/card.tsx';
import { PropertyList } from '../../../components/page-sections/property-list.tsx';
import { useFormat, type Format } from '../../../languages/use-format.ts';
import { useSettingsTranslations, type SettingsTranslate } from '../use-settings-translations.ts';
import { BackupCheckBadge } from './backup-check-badge.tsx';

/** If a backup is created every day, the latest backup is never older than two days. */
const maxAgeMs = 2 * 86_400_000;

/** The latest backup, and a warning if the backup is outdated or the shop cannot be restored from it. */
export function LatestBackup({ latest }: { readonly latest: Backup | undefined }): ReactNode {
  const t = useSettingsTranslations();
  const format = useFormat();
  if (!latest)
    return (
      <Card>
        <EmptyState title={t('backup.none')} text={t('backup.noneAbout')} />
      </Card>
    );
  const warning = findWarning(latest, t, format);
  return (
    <>
      {warning !== undefined && <Notice text={warning} tone={latest.check_result === 'damaged' ? 'critical' : 'warning'} />}
      <Card title={t('backup.latest')}>
        <PropertyList
          properties={[
            { name: t('backup.created'), value: `${format.dateTime(latest.created_at)} (${format.relative(latest.created_at)})` },
            { name: t('backup.size'), value: format.bytes(latest.bytes) },
            { name: t('backup.rows'), value: format.number(latest.rows) },
            { name: t('backup.state'), value: <BackupCheckBadge backup={latest} /> },
            { name: t('backup.checked'), value: latest.checked_at === null ? null : format.dateTime(latest.checked_at) },
          ]}
        />
      </Card>
    </>
  );
}

function findWarning(latest: Backup, t: SettingsTranslate, format: Format): string | undefined {
  if (latest.check_result === 'damaged') return t('backup.isDamaged');
  if (Date.now() - Date.parse(latest.created_at) > maxAgeMs) return t('backup.isOld', { time: format.relative(latest.created_at) });
  return latest.check_result === null ? t('backup.isUnchecked') : undefined;
}
