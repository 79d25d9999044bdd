/** Time zone of the browser, which determines when the days of the statistics begin. */
export const browserTimeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
