import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { ApprovalWithQuote } from './approval-from-entity.ts';
import { AmountRequiringSecondFactor } from './approval-and-second-factor-amount.entity.ts';

/** The amount above which a customer must use a second factor to approve an order. */
export type SecondFactorAmount = { readonly above: number; readonly currency: string };

export async function findUserAmountRequiringSecondFactor(em: EntityManager, userId: number): Promise<SecondFactorAmount | undefined> {
  const settings = await em.findOne(AmountRequiringSecondFactor, { user: userId }, { disableIdentityMap: true });
  return settings ? { above: settings.secondFactorAbove, currency: settings.currency } : undefined;
}

/** Stores the amount, or deletes the stored amount if `amount` is undefined. */
export async function saveOrDeleteSecondFactorAmount(
  em: EntityManager,
  userId: number,
  amount: SecondFactorAmount | undefined,
  now: Date,
): Promise<void> {
  if (!amount) return void (await em.nativeDelete(AmountRequiringSecondFactor, { user: userId }));
  await em.upsert(AmountRequiringSecondFactor, {
    user: userId,
    secondFactorAbove: amount.above,
    currency: amount.currency,
    updatedAt: now,
  });
}

/** Returns whether the customer must use a second factor to approve the order. Amounts in different currencies cannot be compared. */
export async function isSecondFactorRequiredToApprove(em: EntityManager, { approval, quote }: ApprovalWithQuote): Promise<boolean> {
  const amount = await findUserAmountRequiringSecondFactor(em, approval.user);
  return amount !== undefined && (amount.currency !== quote.currency || quote.total > amount.above);
}
