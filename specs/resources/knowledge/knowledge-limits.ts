/** Maximum size of a source's file or page, in bytes. */
export const maxFileBytes = 20 * 1024 * 1024

/** Maximum length of text inline in a request, in characters. */
export const maxTextLength = 2_000_000

/** Maximum length of the text extracted from a source, in characters. */
export const maxExtractedLength = 20_000_000

/** Maximum number of pages of a PDF file. */
export const maxPdfPages = 5_000

/** Maximum number of pages of a scan, each of which is a call of a model. */
export const maxScannedPages = 50

/** Maximum total size of the parts of a zipped document that are read, once unpacked, in bytes. */
export const maxUnpackedBytes = 64 * 1024 * 1024

/** Maximum number of cells of a workbook that have a value. */
export const maxCells = 1_000_000

/** Maximum length of a chunk, which is the content of one search hit, in characters. */
export const maxChunkLength = 1_200

/** Maximum number of sources of a knowledge base. */
export const maxSources = 10_000

/** Maximum number of chunks of a knowledge base, up to which searches are exact. */
export const maxChunks = 200_000

/** Maximum number of grants of a knowledge base. */
export const maxGrants = 10_000

/** Maximum number of hits of one search. */
export const maxTopK = 50

/** Maximum length of a query, in characters. */
export const maxQueryLength = 20_000

/** Length of the beginning of a query that is compared by meaning, in characters; the words of all of it are searched. */
export const maxEmbeddedQueryLength = 2_000

/** Maximum length of a question of a recall set, in characters. */
export const maxQuestionLength = 2_000

/** Maximum number of questions of a recall set. */
export const maxQuestions = 500

/** Maximum number of files of a project that were uploaded by `files.create` or made by a batch. */
export const maxFiles = 20_000

/** Maximum number of files that one request adds to a vector store. */
export const maxFilesAtOnce = 100
