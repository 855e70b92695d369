import type { PackedPage, PageQuery } from '#retrieval/index.ts'

/** What a search is limited to. */
export type PageFilter = {
  /** A host with its subdomains, in lower case, with or without a port. */
  readonly host?: string
  /** In lower case. */
  readonly language?: string
  /** Earliest publication, in ms since the epoch. */
  readonly since?: number
}

/** A query for pages with a declared filter. */
export interface FilteredQuery extends PageQuery {
  readonly filter: PageFilter | null
}

/** Returns the filter of a search as a function. */
export const acceptsOf =
  ({ host, language, since }: PageFilter): NonNullable<PageQuery['accepts']> =>
  ({ url, publishedAt, language: own }) => {
    if (since !== undefined && (publishedAt === null || publishedAt < since)) return false
    if (language !== undefined && !(own !== null && speaks(own.toLowerCase(), language))) return false
    return host === undefined || isOfHost(url, host)
  }

/** Returns the facets that a page has to have. */
export const facetsOf = (filter: PageFilter | null): readonly string[] => [
  ...(filter?.host === undefined ? [] : [`host:${filter.host}`]),
  ...(filter?.language === undefined ? [] : [`language:${filter.language}`]),
]

/** Returns all facets of a page: its host and those that it is a subdomain of, and its language and what that is one of. */
export const facetsOfPage = ({ url, language }: Pick<PackedPage, 'url' | 'language'>): readonly string[] => {
  const { host = '', hostname = '' } = URL.parse(url) ?? {}
  const labels = hostname.split('.')
  const hosts = new Set([host, ...labels.map((_, at) => labels.slice(at).join('.'))])
  const parts = language === null ? [] : language.toLowerCase().split('-')
  return [
    ...[...hosts].map((each) => `host:${each}`),
    ...parts.map((_, at) => `language:${parts.slice(0, at + 1).join('-')}`),
  ]
}

/** Whether a page's language matches: `en` finds `en-GB`, but `en-GB` does not find `en-US`. */
const speaks = (own: string, wanted: string): boolean => own === wanted || own.startsWith(`${wanted}-`)

/** Whether a URL is on a host or one of its subdomains. @param host in lower case, with or without a port. */
export const isOfHost = (url: string, host: string): boolean => {
  const { hostname, host: withPort } = new URL(url)
  return hostname === host || withPort === host || hostname.endsWith(`.${host}`)
}
