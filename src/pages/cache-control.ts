/** Directives that forbid a shared store of a page. */
export type StoreRefusal = 'no_store' | 'private'

/**
 * Returns the directive of a Cache-Control header that forbids a shared store of the page (RFC 9111, section 5.2.2);
 * null when there is none. `private` with field names concerns those fields only.
 */
export const storeRefusalOf = (header: string | null): StoreRefusal | null => {
  const directives = new Set(
    (header ?? '')
      .toLowerCase()
      .split(',')
      .map((directive) => directive.trim()),
  )
  if (directives.has('no-store')) return 'no_store'
  return directives.has('private') ? 'private' : null
}
