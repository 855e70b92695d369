/** Search by words and vectors, and embedders. Everything outside of this folder imports it here. */
export { analysisOf, contentTermsOf } from './analysis/analysis.ts'
export { type Language, segmentLanguages } from './analysis/languages.ts'
export { type Embedder, EmbedderUnavailable, type OlderText } from './embedder.ts'
export { LocalEmbedder } from './embedding/local-embedder.ts'
export { PackagedEmbedder, packagedModel } from './embedding/packaged-embedder.ts'
export type { ReadersOff } from './embedding/schema.ts'
export { type CachedIndex, IndexBound, IndexCache } from './index-cache.ts'
export { leadsOf } from './leads.ts'
export { oddsInTime } from './odds-in-time.ts'
export type { FindablePage } from './pages/findable-page.ts'
export { joinedIn, joinedSummaries } from './pages/joined-summaries.ts'
export { type PackedPage, packedPage, unpackedPage, wordKey } from './pages/packed-page.ts'
export { PageCorpus, summaryOf } from './pages/page-corpus.ts'
export { type PageFacts, type PageHit, PageIndex, type PageQuery } from './pages/page-index.ts'
export { aboveOf, pagePassages } from './pages/page-passages.ts'
export { PageSegment } from './pages/page-segment.ts'
export { PageSegmentWriter } from './pages/page-segment-writer.ts'
export { PassageIndex } from './passage-index.ts'
export type { PassageHits, PassageQuery, ReadPassages } from './passage-query.ts'
export { Background, backgroundOf } from './ranking/background.ts'
export { Pause } from './ranking/pause.ts'
export { UnknownFormat } from './segments/columns.ts'
export {
  DocumentSegment,
  type SegmentBytes,
  SegmentIds,
  type SegmentPart,
  type SegmentReader,
  segmentParts,
  wholeSegment,
} from './segments/document-segment.ts'
export { DocumentSegmentWriter } from './segments/document-segment-writer.ts'
export { IndexedDocument, SegmentedIndex } from './segments/segmented-index.ts'
export { standing, standingsIn } from './segments/standings.ts'
export { storedCosines } from './stored-cosines.ts'
export { titleTermsOf } from './titles.ts'
export { exactTextOf, exactVectorOf, numbersOfText, textOfVector, vectorOfText } from './vector-bytes.ts'
export { isZero } from './vector-table.ts'
