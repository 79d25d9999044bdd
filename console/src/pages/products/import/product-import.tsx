import type { Task } from '@mandate/client-sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { keyOf } from '../../../api/client.ts';
import { Card } from '../../../components/page-sections/card.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { PageHeader } from '../../../components/page-sections/page-header.tsx';
import { useCommonTranslations } from '../../../languages/use-translations.tsx';
import { useProductsTranslations } from '../use-products-translations.ts';
import { ImportFileForm, type ImportRequest } from './import-file-form.tsx';
import { ImportProgress } from './import-progress.tsx';
import { ImportResult } from './import-result.tsx';
import { runProductImport } from './run-product-import.ts';

type Run = ImportRequest & { readonly isPreview: boolean };

/** Imports products from a file. A dry run checks the file first, and shows what the import would change. */
export function ProductImport(): ReactNode {
  const t = useProductsTranslations();
  const common = useCommonTranslations();
  const queryClient = useQueryClient();
  const [task, setTask] = useState<Task>();
  const run = useMutation({
    mutationFn: ({ file, query, isPreview }: Run) => runProductImport(file, { ...query, dry_run: isPreview ? 'true' : 'false' }, setTask),
    onMutate: () => setTask(undefined),
    onSuccess: async (_outcome, { isPreview }) => {
      if (!isPreview) await queryClient.invalidateQueries({ queryKey: keyOf('products') });
    },
  });
  const request = run.variables;
  const restart = (): void => run.reset();
  return (
    <>
      <PageHeader title={t('import.title')} about={t('import.about')} parent={{ to: '/products', name: common('page.products') }} />
      <Card>
        {run.isIdle && <ImportFileForm onSubmit={(file) => run.mutate({ ...file, isPreview: true })} />}
        {run.isPending && <ImportProgress task={task} isPreview={request?.isPreview ?? true} />}
        <ErrorNotice error={run.error} onRetry={restart} />
        {run.data && request && (
          <ImportResult
            outcome={run.data}
            isPreview={request.isPreview}
            hasDecimalAmounts={request.query.amounts !== 'minor'}
            onImport={() => run.mutate({ ...request, isPreview: false })}
            onRestart={restart}
          />
        )}
      </Card>
    </>
  );
}
