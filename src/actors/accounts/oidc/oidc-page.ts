/**
 * Returns the page at the end of a sign-in: it leads to the console, or says why the sign-in failed. It has no scripts,
 * and its only link is to this server.
 *
 * @param trouble null: signed in. @param cookies `Set-Cookie` headers. @param returnTo path of this server
 */
export const oidcPage = (trouble: string | null, cookies: readonly string[], returnTo = '/') => {
  const title = trouble === null ? 'Signed in' : 'Not signed in'
  const text = trouble === null ? '' : `<p>${escaped(trouble)}</p>`
  return {
    contentType: 'text/html; charset=utf-8',
    bytes: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head><body><main><h1>${title}</h1>${text}<p><a href="${escaped(returnTo)}">${trouble === null ? 'Continue' : 'Back to the sign-in'}</a></p></main></body></html>`,
    headers: [
      ['content-security-policy', "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"],
      ['cache-control', 'no-store'],
      ['referrer-policy', 'no-referrer'],
      ['x-content-type-options', 'nosniff'],
      ...(trouble === null ? [['refresh', `0; url=${returnTo}`] as const] : []),
      ...cookies.map((cookie) => ['set-cookie', cookie] as const),
    ] as const satisfies readonly (readonly [string, string])[],
  }
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
