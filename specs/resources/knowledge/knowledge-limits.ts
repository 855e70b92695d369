/** Size of a file or a page that a source is made of, in bytes. */
export const maxFileBytes = 20 * 1024 * 1024

/** Length of the text that a request carries inline, in characters. */
export const maxTextLength = 2_000_000

/** Length of the text that is extracted from a source, in characters. */
export const maxExtractedLength = 20_000_000

/** Length of a chunk, which is what one hit of a search shows, in characters. */
export const maxChunkLength = 1_200

/** Sources of a knowledge base. */
export const maxSources = 10_000

/** Chunks of a knowledge base: searches are exact up to so many. */
export const maxChunks = 200_000

/** Grants of a knowledge base. */
export const maxGrants = 10_000

/** Hits that one search may return. */
export const maxTopK = 50

/** Length of a query, in characters. */
export const maxQueryLength = 2_000

/** Questions of a recall set. */
export const maxQuestions = 500
