/** Default grace period after a refresh token is rotated, in seconds. The period covers a lost response and one retry. */
export const defaultRefreshGraceSeconds = 30;
