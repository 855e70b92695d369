/** Maximum size of a page in bytes, after decompression. */
export const maxPageBytes = 5 * 1024 * 1024

/** Default for the maximum size of a page, in bytes. */
export const defaultPageBytes = 2 * 1024 * 1024

/** Timeout for a page, in ms. */
export const pageTimeoutMs = { min: 1_000, max: 30_000, default: 15_000 } as const

/** Maximum length of the HTML of a rendered page, in characters. */
export const maxRenderedLength = 2 * 1024 * 1024

/** Maximum size of a schema for extraction, in bytes of JSON. */
export const maxSchemaBytes = 32 * 1024

/** Maximum number of redirects from a URL to its page. */
export const maxRedirects = 5

/** Maximum length of a URL, in characters. */
export const maxUrlLength = 4_096

/** Limits of a crawl within a request. */
export const crawlLimits = { seeds: 20, pages: 25, defaultPages: 10, depth: 3, defaultDepth: 1 } as const

/** Number of pages of a project beyond which they are not searched in memory while an engine cannot be reached. */
export const maxPagesInMemory = 100_000

/** Maximum number of indexed pages of a project: where their index is in memory, and where an engine has it. */
export const maxCorpusPages = { inMemory: 20_000, inEngine: 1_000_000 } as const

/** Maximum number of results of a search. */
export const maxSearchResults = 50

/** Maximum length of a query, in characters. */
export const maxSearchLength = 2_000

/** Maximum number of URLs in one takedown request. */
export const maxTakedownUrls = 100

/** Limits of background crawls. */
export const backgroundCrawl = { pages: 200, defaultPages: 100, depth: 10, defaultDepth: 3, open: 20 } as const
