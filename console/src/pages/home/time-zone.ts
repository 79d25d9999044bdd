/** Time zone of the browser, in which the days of the statistics begin. */
export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
