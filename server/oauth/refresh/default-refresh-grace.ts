/** Default grace period after a refresh token is rotated, in seconds. It covers a lost response and one retry. */
export const defaultRefreshGraceSeconds = 30;
