import type { Product } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { ConflictDifference } from '../../components/forms/conflict-difference.tsx';
import type { UpdateConflict } from '../../components/forms/use-update-with-conflict-detection.ts';
import { useProductConflictFieldLister, type ProductChanges } from './use-product-and-stock-update.ts';

type Props = {
  readonly update: {
    readonly conflict: UpdateConflict<Product, ProductChanges> | undefined;
    readonly isPending: boolean;
    readonly overwrite: () => void;
  };
  readonly onKeepTheirs: () => void;
};

/** Compares another user's saved values with the values that this user wanted to save. */
export function ProductConflict({ update, onKeepTheirs }: Props): ReactNode {
  const differences = useProductConflictFieldLister();
  if (!update.conflict) return null;
  return (
    <ConflictDifference
      differences={differences(update.conflict)}
      isSaving={update.isPending}
      onKeepTheirs={onKeepTheirs}
      onOverwrite={update.overwrite}
    />
  );
}
