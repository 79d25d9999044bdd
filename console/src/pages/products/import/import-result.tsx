import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { PropertyList } from '../../../components/page-sections/property-list.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { useProductsTranslations } from '../use-products-translations.ts';
import classes from '../detail/product-form.module.css';
import { describeImportIssue } from './describe-import-issue.ts';
import type { ImportOutcome, ImportIssue } from './run-product-import.ts';
import tableClasses from './import-result.module.css';

type Props = {
  readonly outcome: ImportOutcome;
  readonly isPreview: boolean;
  /** Whether the file contains prices such as `4.50`, not prices in minor units. */
  readonly hasDecimalAmounts: boolean;
  readonly onImport: () => void;
  readonly onRestart: () => void;
};

/** Shows the changes that an import has made or would make, and the rejected lines. */
export function ImportResult({ outcome: { task, issues }, isPreview, hasDecimalAmounts, onImport, onRestart }: Props): ReactNode {
  const t = useProductsTranslations();
  const format = useFormat();
  const counts = task.imported;
  const changed = counts ? counts.created + counts.updated : 0;
  const hasSucceeded = task.status === 'succeeded';
  return (
    <div className={classes['form']} role="status">
      <h2>{hasSucceeded ? t(isPreview ? 'import.checked' : 'import.done') : t.value('import', task.status)}</h2>
      {task.error && <p>{task.error.detail}</p>}
      {counts && (
        <PropertyList
          properties={(['created', 'updated', 'unchanged', 'refused'] as const).map((name) => ({
            name: isPreview ? t(`willBe.${name}`) : t(`was.${name}`),
            value: format.number(counts[name]),
          }))}
        />
      )}
      {issues.length > 0 && <Issues issues={issues} count={task.result?.rows ?? issues.length} hasDecimalAmounts={hasDecimalAmounts} />}
      <div className={classes['submit']}>
        <Button variant="default" onClick={onRestart}>
          {t('import.another')}
        </Button>
        {isPreview && hasSucceeded && changed > 0 && <Button onClick={onImport}>{t('import.confirm', { count: changed })}</Button>}
        {!isPreview && (
          <Button component={Link} to="/products">
            {t('import.toProducts')}
          </Button>
        )}
      </div>
    </div>
  );
}

type IssuesProps = {
  readonly issues: readonly ImportIssue[];
  /** Number of issues in the result file. */
  readonly count: number;
  readonly hasDecimalAmounts: boolean;
};

function Issues({ issues, count, hasDecimalAmounts }: IssuesProps): ReactNode {
  const t = useProductsTranslations();
  return (
    <>
      <h3>{t('import.issues', { count })}</h3>
      <table className={tableClasses['issues']}>
        <thead>
          <tr>
            <th scope="col">{t('import.line')}</th>
            <th scope="col">{t('import.field')}</th>
            <th scope="col">{t('import.problem')}</th>
          </tr>
        </thead>
        <tbody>
          {issues.map((issue, index) => (
            <tr key={index}>
              <td>{issue.line}</td>
              <td>{issue.field === undefined ? '–' : t.value('field', issue.field)}</td>
              <td>{describeImportIssue(issue, hasDecimalAmounts, t)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {count > issues.length && <p>{t('import.moreIssues', { count: count - issues.length })}</p>}
    </>
  );
}
