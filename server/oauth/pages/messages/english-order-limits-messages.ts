import type { BudgetPeriod, OrderAction } from '@mandate/contract';

const periods: Readonly<Record<BudgetPeriod, string>> = { day: 'per day', week: 'per week', month: 'per month' };

/** English texts for the limits that a customer sets for an application's orders. */
export const englishOrderLimitsMessages = {
  orderLimits: {
    title: 'Limits for orders',
    asks: (application: string, limits: string) => `${application} asks for orders ${limits}.`,
    perOrderText: (amount: string) => `of at most ${amount} each`,
    perPeriodText: (amount: string, period: BudgetPeriod) => `of at most ${amount} ${periods[period]} in total`,
    untilText: (when: string) => `until ${when}`,
    lower: 'You can lower these limits now, and change them at any time on your account page.',
    none: 'Optional. Orders above a limit are refused. You can change the limits at any time on your account page.',
    currency: 'Currency',
    perOrder: (currency: string) => `Most per order${currency && `, in ${currency}`}`,
    perPeriod: (currency: string) => `Most per period${currency && `, in ${currency}`}`,
    period: 'Period',
    periods: { day: 'Day', week: 'Week', month: 'Month' } satisfies Record<BudgetPeriod, string>,
    until: 'Last day on which it may order',
    may: 'It may:',
    actions: {
      place: 'Place orders',
      pay: 'Pay for orders',
      cancel: 'Cancel orders',
    } satisfies Record<OrderAction, string>,
    amountInvalid: (example: string) => `Enter an amount such as ${example}`,
    currencyInvalid: 'Choose a currency',
    tooHigh: (amount: string) => `Enter ${amount} or less. The application did not ask for more`,
    dateInvalid: 'Enter a date in the future',
    tooLate: (day: string) => `Enter ${day} or an earlier day. The application did not ask for more`,
    actionMissing: 'Choose at least one action, or cancel',
    spent: (spent: string, limit: string, period: BudgetPeriod) => `${spent} of ${limit} ${periods[period]} is spent.`,
    save: 'Save the limits',
    remove: 'Remove the limits',
    change: 'Limits for orders',
    changeLabel: (application: string) => `Limits for orders by ${application}`,
    pageTitle: (application: string) => `Limits for orders by ${application}`,
    pageText: 'The limits apply from the next order on. Leave a field empty for no limit.',
    back: 'Applications that use your account',
  },
};
