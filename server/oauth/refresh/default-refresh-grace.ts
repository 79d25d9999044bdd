/** Default grace period after the rotation of a refresh token, in seconds. The period is long enough for a lost response and one retry. */
export const defaultRefreshGraceSeconds = 30;
