/**
 * Name of the dashboard's cookie. Under https it has the prefix of cookies that only this very host can set: a page of another name under
 * the same domain would otherwise give a member its own session, and read what is typed in there (RFC 6265bis, 4.1.3.2).
 *
 * @param secure whether the dashboard is served over https (`PUBLIC_URL`).
 */
export const sessionCookieName = (secure: boolean): string => (secure ? '__Host-troupe_session' : 'troupe_session')

/** `Set-Cookie` for a dashboard session. */
export const sessionCookie = (value: string, maxAgeS: number, secure: boolean): string =>
  `${sessionCookieName(secure)}=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`

/** `Set-Cookie` that makes the browser forget its session. */
export const endedSessionCookie = (secure: boolean): string => sessionCookie('', 0, secure)
