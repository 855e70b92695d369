/** Name of the dashboard's cookie. */
export const sessionCookieName = 'troupe_session'

/**
 * `Set-Cookie` for a dashboard session.
 *
 * @param secure whether the dashboard is served over https (`PUBLIC_URL`).
 */
export const sessionCookie = (value: string, maxAgeS: number, secure: boolean): string =>
  `${sessionCookieName}=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`

/** `Set-Cookie` that makes the browser forget its session. */
export const endedSessionCookie = (secure: boolean): string => sessionCookie('', 0, secure)
