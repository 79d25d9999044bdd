/** Time zone of the browser, which determines when the days of the statistics begin. */
export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
