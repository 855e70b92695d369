/**
 * Name of the dashboard's session cookie. Over https it has the `__Host-` prefix, so that only this exact host can set
 * it. Otherwise a page on a sibling host of the same domain could give a member the page's own session, and read what
 * the member enters in it (RFC 6265bis, 4.1.3.2).
 *
 * @param secure whether the dashboard is served over https (`PUBLIC_URL`).
 */
export const sessionCookieName = (secure: boolean): string => (secure ? '__Host-troupe_session' : 'troupe_session')

/** `Set-Cookie` for a dashboard session. */
export const sessionCookie = (value: string, maxAgeS: number, secure: boolean): string =>
  `${sessionCookieName(secure)}=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`

/** `Set-Cookie` that removes the session from the browser. */
export const endedSessionCookie = (secure: boolean): string => sessionCookie('', 0, secure)
