import { createHash } from 'node:crypto'
import { chunksOf } from '#src/parsing/documents/chunk.ts'
import { type PageHit, PageIndex } from '#src/retrieval/pages/page-index.ts'
import { pagePassages } from '#src/retrieval/pages/page-passages.ts'
import { isReported } from '../recall/collection.ts'
import { mean, ndcgAt, reciprocalRank } from '../recall/measures.ts'
import type { Row } from '../row.ts'
import { type PageSet, pageSetsIn, type SetPage, type SetQuestion } from './page-sets.ts'
import { plantedFor } from './planted.ts'

/** Number of questions per set for which pages are planted. */
const plantedQuestions = 14

/**
 * Measures lexical searches over the pages of all public sets in one index: the quality of the first ten results, on
 * the half of the questions that no weight was tuned on; the time of a search; and how many planted spam pages and
 * copies are among the results.
 */
export const searchQualityRows = async (folder: string): Promise<readonly Row[]> => {
  const sets = pageSetsIn(folder)
  if (sets.length === 0) return []
  const index = new PageIndex()
  for (const set of sets) for (const page of set.pages) addTo(index, page)
  const times: number[] = []
  const rows: Row[] = []
  for (const set of sets) rows.push(await qualityOf(index, set, times))
  const sorted = times.toSorted((a, b) => a - b)
  rows.push({
    ...{ measure: `search of ${index.size} pages of public sets, p99`, unit: 'ms' },
    ...{ ours: sorted[Math.floor(sorted.length * 0.99)] ?? 0, bound: { of: 'ours', atMost: 150 } },
  })
  return [...rows, ...(await plantedRows(index, sets))]
}

const qualityOf = async (index: PageIndex, set: PageSet, times: number[]): Promise<Row> => {
  const values: number[] = []
  for (const [place, question] of set.questions.entries()) {
    if (!isReported(place) || question.relevant.size === 0) continue
    const from = performance.now()
    const found = (await searched(index, question)).map(({ page }) => page.url)
    times.push(performance.now() - from)
    values.push(
      set.measure === 'MRR@10' ? reciprocalRank(found, question.relevant) : ndcgAt(found, question.relevant, 10),
    )
  }
  const measure = `search, ${set.name} (${values.length} questions)`
  return { measure, unit: set.measure, ours: mean(values), bound: { of: 'ours', atLeast: set.atLeast } }
}

const plantedRows = async (index: PageIndex, sets: readonly PageSet[]): Promise<readonly Row[]> => {
  const chosen = sets.flatMap((set) => {
    const pages = new Map(set.pages.map((page) => [page.url, page]))
    return set.questions
      .filter(({ relevant }, place) => isReported(place) && relevant.size > 0)
      .slice(0, plantedQuestions)
      .map((question) => ({ question, answer: answerIn(pages, question) }))
  })
  const spam = new Set<string>()
  const mirrors = new Map<string, string>()
  for (const [number, { question, answer }] of chosen.entries()) {
    const planted = plantedFor(question, answer, number)
    for (const page of [...planted.spam, ...planted.mirrors]) addTo(index, page, 1)
    for (const { url } of planted.spam) spam.add(url)
    for (const { url } of [answer, ...planted.mirrors]) mirrors.set(url, answer.url)
  }
  let [shown, first, copies] = [0, 0, 0]
  for (const { question } of chosen) {
    const found = (await searched(index, question)).map(({ page }) => page.url)
    shown += found.filter((url) => spam.has(url)).length
    first += Number(spam.has(found[0] ?? ''))
    const known = found.flatMap((url) => mirrors.get(url) ?? [])
    copies += known.length - new Set(known).size
  }
  const of = `of ${chosen.length} questions`
  return [
    {
      ...{ measure: `planted spam in the first ten, mean ${of}`, unit: 'pages' },
      ...{ ours: shown / chosen.length, bound: { of: 'ours', atMost: 0.2 } },
    },
    { measure: `planted spam first, ${of}`, unit: 'searches', ours: first, bound: { of: 'ours', atMost: 0 } },
    { measure: `mirrors in the first ten, ${of}`, unit: 'pages', ours: copies, bound: { of: 'ours', atMost: 0 } },
  ]
}

const answerIn = (pages: ReadonlyMap<string, SetPage>, { relevant }: SetQuestion): SetPage => {
  const [best] = [...relevant].toSorted(([, a], [, b]) => b - a)
  return pages.get(best?.[0] ?? '') ?? { url: '', title: '', text: '' }
}

const addTo = (index: PageIndex, { url, title, text }: SetPage, firstSeenAt = 0): void => {
  const contentHash = createHash('sha256').update(text).digest('hex')
  const passages = pagePassages(chunksOf(text))
    .slice(0, 200)
    .map(({ start, end, heading }) => ({ start, end, heading, vector: null }))
  const times = { publishedAt: null, firstSeenAt, retrievedAt: 0 }
  index.add({ id: url, url, title, description: '', text, passages, links: [], contentHash, ...times })
}

const searched = (index: PageIndex, { text }: SetQuestion): Promise<readonly PageHit[]> =>
  index.search({ text, vector: null, embedder: null, limit: 10, accepts: null, diverse: true, now: 0 })
