/** Outcome of a sign-in, for the browser. */
export interface SignInEnd {
  readonly trouble: { readonly code: string; readonly message: string } | null
  readonly returnTo: string | null
  readonly connectionId: string
  /** Token with which the caller has to confirm who signed in; null when no confirmation is needed. */
  readonly held: string | null
}

/**
 * Returns the page shown at the end of a sign-in. It contains no scripts or external resources, and links to the
 * caller's page if there is one.
 */
export const signInPage = ({ trouble, returnTo, connectionId, held }: SignInEnd) => {
  const title = trouble === null ? (held === null ? 'Connected' : 'One more step') : 'Not connected'
  const text = trouble === null ? (held === null ? works : confirms) : trouble.message
  const status = trouble?.code ?? (held === null ? 'connected' : 'confirmation_required')
  const more = held === null || trouble !== null ? {} : { sign_in: held }
  const next = returnTo === null ? null : onward(returnTo, { connection_id: connectionId, status, ...more })
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

const works = 'The connection works. You can close this window.'
const confirms = 'Return to the page that you came from to complete the sign-in.'

const onward = (returnTo: string, fields: Readonly<Record<string, string>>): string => {
  const url = new URL(returnTo)
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value)
  return url.href
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
