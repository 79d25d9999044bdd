import { Option, type Command } from 'commander';
import { orderActionsInAuthorizationDetails, orderApprovalModes } from '../order-limits/parse-order-limit-flags.ts';
import { setCompletionChoices } from './global-flags-and-command-groups.ts';

const collect = (value: string, previous: readonly string[] = []): string[] => [...previous, value];

/** Adds the flags for the order limits of an application. */
export const addOrderLimitFlags = (command: Command): Command =>
  command
    .option('--limit-per-order <amount>', 'maximum total of one order, such as 50 or 49.99')
    .option('--limit-per-day <amount>', 'maximum total of all orders per day')
    .option('--limit-per-week <amount>', 'maximum total of all orders per week (weeks start on Monday)')
    .option('--limit-per-month <amount>', 'maximum total of all orders per calendar month')
    .option('--limit-category <name>', 'category whose products can be ordered; repeat the flag for several categories', collect)
    .option('--currency <code>', 'currency of the amounts, such as GBP; orders in other currencies are rejected')
    .option('--until <date>', 'last day on which orders are permitted, such as 2027-01-31, in the local time zone')
    .addOption(
      setCompletionChoices(new Option('--orders <which>', 'orders that the application can access: own (those that it placed) or all'), [
        'own',
        'all',
      ]),
    )
    .addOption(
      setCompletionChoices(new Option('--approval <which>', "when an order needs the customer's approval: above_limit, always or never"), [
        ...orderApprovalModes,
      ]),
    )
    .addOption(
      setCompletionChoices(new Option('--actions <list>', 'permitted actions, separated by commas: place, pay, cancel'), [
        ...orderActionsInAuthorizationDetails,
      ]),
    );
