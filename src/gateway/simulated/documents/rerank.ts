import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { tokensOfChars } from '#gateway/call/accounting/usage.ts'
import { arrayOf, countOf, isObject, textOf, type WireObject } from '#outgoing/wire.ts'
import { runInSlices, type SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { sendError, sendJson } from '../respond.ts'
import { embedText } from './embedding.ts'

const maxDocuments = 10_000
/** Characters of a document that are compared. */
const maxCompared = 4_000

/** Serves `/v1/rerank`: documents are ranked by words and parts of words that they share with the query. */
export const rerank = async (request: WireObject, response: ServerResponse): Promise<void> => {
  const query = textOf(request.query)
  const documents = arrayOf(request.documents)
  if (query === '') sendError(response, 400, 'missing_query')
  else if (documents.length === 0 || documents.length > maxDocuments) sendError(response, 400, 'invalid_documents')
  else sendJson(response, 200, await runInSlices(rankingOf(request, query, documents)))
}

function* rankingOf(request: WireObject, query: string, documents: readonly unknown[]): SlicedWork<object> {
  const wanted = embedText(query.slice(0, maxCompared))
  const ranked: { readonly index: number; readonly relevance_score: number }[] = []
  let chars = query.length
  for (const [index, document] of documents.entries()) {
    const text = textIn(document)
    chars += text.length
    ranked.push({ index, relevance_score: likeness(wanted, embedText(text.slice(0, maxCompared))) })
    yield
  }
  ranked.sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
  const max = request.top_n === undefined || request.top_n === null ? ranked.length : countOf(request.top_n)
  const tokens = tokensOfChars(chars)
  return {
    id: `rerank-${createHash('sha256').update(query).digest('hex').slice(0, 24)}`,
    object: 'rerank',
    model: request.model,
    results: ranked
      .slice(0, max)
      .map((each) => (request.return_documents === true ? { ...each, document: shown(documents[each.index]) } : each)),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}

const textIn = (document: unknown): string =>
  typeof document === 'string' ? document : isObject(document) ? textOf(document.text) || JSON.stringify(document) : ''

const shown = (document: unknown): unknown => (typeof document === 'string' ? { text: document } : document)

/** Cosine of two unit vectors, from 0 to 1. */
const likeness = (a: readonly number[], b: readonly number[]): number => {
  const cosine = a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)
  return Number(Math.min(1, Math.max(0, cosine)).toFixed(6))
}
