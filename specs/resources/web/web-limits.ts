/** Largest page that is read, in bytes after decompression. */
export const maxPageBytes = 5 * 1024 * 1024

/** Bytes of a page that are read unless the request says otherwise. */
export const defaultPageBytes = 2 * 1024 * 1024

/** Shortest and longest time for a page, in ms. */
export const pageTimeoutMs = { min: 1_000, max: 30_000, default: 15_000 } as const

/** Size of a schema by which a page is extracted, in bytes of JSON. */
export const maxSchemaBytes = 32 * 1024

/** Most redirects from a URL to its page. */
export const maxRedirects = 5

/** Longest URL, in characters. */
export const maxUrlLength = 4_096

/** Limits of a crawl within a request. */
export const crawlLimits = { seeds: 20, pages: 25, defaultPages: 10, depth: 3, defaultDepth: 1 } as const

/** Most pages that a project indexes. */
export const maxCorpusPages = 20_000

/** Most results of a search. */
export const maxSearchResults = 50

/** Longest query, in characters. */
export const maxSearchLength = 2_000

/** Addresses of one request for removal. */
export const maxTakedownUrls = 100

/** Limits of a crawl in the background. */
export const backgroundCrawl = { pages: 200, defaultPages: 100, depth: 10, defaultDepth: 3, open: 20 } as const
