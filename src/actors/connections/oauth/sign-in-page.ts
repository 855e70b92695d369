/** How a sign-in ended, for the browser. */
export interface SignInEnd {
  readonly trouble: { readonly code: string; readonly message: string } | null
  readonly returnTo: string | null
  readonly connectionId: string
}

/** The page that a sign-in ends at. It runs no script, loads nothing, and leads on to the caller's page if there is one. */
export const signInPage = ({ trouble, returnTo, connectionId }: SignInEnd) => {
  const title = trouble === null ? 'Connected' : 'Not connected'
  const text = trouble === null ? 'The connection works. You can close this window.' : trouble.message
  const next = returnTo === null ? null : onward(returnTo, connectionId, trouble?.code ?? 'connected')
  const link = next === null ? '' : `<p><a href="${escaped(next)}">Continue</a></p>`
  return {
    contentType: 'text/html; charset=utf-8',
    bytes: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1><p>${escaped(text)}</p>${link}</body></html>`,
    headers: [
      ['content-security-policy', "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"],
      ['cache-control', 'no-store'],
      ['referrer-policy', 'no-referrer'],
      ['x-content-type-options', 'nosniff'],
      ...(next === null ? [] : [['refresh', `0; url=${next}`] as const]),
    ] as const satisfies readonly (readonly [string, string])[],
  }
}

const onward = (returnTo: string, connectionId: string, status: string): string => {
  const url = new URL(returnTo)
  url.searchParams.set('connection_id', connectionId)
  url.searchParams.set('status', status)
  return url.href
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
