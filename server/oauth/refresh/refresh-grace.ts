/** Default grace period after a refresh token has been rotated, in seconds: enough for a lost response and one retry. */
export const defaultRefreshGraceSeconds = 30;
