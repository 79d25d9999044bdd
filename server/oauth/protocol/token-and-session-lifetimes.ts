const minutes = 60;
const days = 24 * 60 * minutes;

/** Lifetimes, in seconds. */
export const tokenAndSessionLifetimesInSeconds = {
  accessToken: 5 * minutes,
  authorizationCode: minutes,
  /**
   * A refresh token expires if it has not been used for this long. Each use returns a new refresh token, unless the token is bound to a
   * key.
   */
  refreshToken: 14 * days,
  /** A grant expires after this time, no matter how often its tokens are refreshed. */
  grant: 90 * days,
  idToken: 60 * minutes,
  interaction: 30 * minutes,
  /** Users need time to read the code on one device and enter it on another. */
  deviceCode: 10 * minutes,
  session: 14 * days,
} as const;
