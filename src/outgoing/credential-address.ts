/**
 * Returns the address that a stored credential is bound to: scheme, host, port, path and query of a URL, in one form for
 * all ways to write it. A credential is sent to another address only after it was given again, because one host may
 * serve many parties by path (specs/decisions/0020-credentials.md). Slashes at the end of the path do not
 * count, nor do a fragment and user information, which are never sent. A text that is not a URL is its own address.
 */
export const credentialAddress = (text: string): string => {
  const url = URL.parse(text)
  if (url === null) return text
  const { protocol, host, pathname, search } = url
  return `${protocol}//${host}${pathname.replace(/(?<!\/)\/+$/, '')}${search}`
}

/** The address of a stored credential; records of earlier releases have only the origin. */
export type BoundTo = { readonly origin: string; readonly address?: string }

/** Returns the fields that bind a credential to a URL. */
export const boundTo = (url: string): Required<BoundTo> => ({
  origin: URL.parse(url)?.origin ?? url,
  address: credentialAddress(url),
})

/** Whether a credential with these fields may be sent to a URL. */
export const mayReceive = (bound: BoundTo, url: string): boolean => {
  const { origin, address } = boundTo(url)
  return bound.address === undefined ? bound.origin === origin : bound.address === address
}

/** Whether a URL is below the address of a credential: at its origin, and within its path after dot segments. */
export const isBelow = (url: URL, address: string): boolean => {
  const base = URL.parse(address)
  if (base === null) return false
  const { origin, pathname } = base
  return url.origin === origin && `${url.pathname}/`.startsWith(pathname.endsWith('/') ? pathname : `${pathname}/`)
}

/** Whether secrets may be sent to a URL: over TLS, or to this machine. */
export const isSecureUrl = (url: string): boolean => {
  const { protocol, hostname } = URL.parse(url) ?? { protocol: '', hostname: '' }
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/** Whether a host of a URL is this machine. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
