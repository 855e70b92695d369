import { callApi, wordsOf } from '../api.js'
import { html } from '../html.js'
import { TablePanel } from '../parts/panel.js'
import { QueryForm } from '../parts/query-form.js'
import { LeftOutList, Score, ScoreParts } from '../parts/score.js'
import { useRead } from '../parts/use-read.js'
import { hashAt } from '../route.js'

/**
 * @typedef {Found['data'][number]} Hit
 * @typedef {Answers['knowledge_bases.search']} Found
 */

const fields = /** @type {const} */ ([{ name: 'q', label: 'Search', wide: true }])
const maxHits = 10

/** A search in a knowledge base, with an explanation of each score. @param {{ place: Place, base: string, sources: readonly import('./knowledge-page.js').Source[] }} props */
export const KnowledgeSearch = ({ place, base, sources }) => {
  const { q = '' } = place.query
  const { data, error } = useRead(q === '' ? '' : `${base} ${q}`, (signal) =>
    callApi(place.project, 'knowledge_bases.search', {
      params: { knowledge_base_id: base },
      body: { query: q, top_k: maxHits, explain: true },
      signal,
    }),
  )
  return html`
    <${QueryForm} place=${place} label="Search the base" button="Search" fields=${fields} fresh=${['from']} />
    ${error !== null && html`<p class="panel panel-part trouble" role="alert">${wordsOf(error)}</p>`}
    ${q !== '' && data === null && error === null && html`<p class="panel panel-part muted">Searching …</p>`}
    ${data !== null && html`<${Hits} place=${place} found=${data} titles=${new Map(sources.map(({ id, title }) => [id, title]))} />`}
  `
}

/** @param {{ place: Place, found: Found, titles: ReadonlyMap<string, string | null> }} props */
const Hits = ({ place, found: { data, embedder, left_out = [] }, titles }) => {
  /** @type {Columns<Hit>} */
  const columns = {
    Source: (hit) => html`<${From} place=${place} hit=${hit} title=${titles.get(hit.source_id) ?? null} />`,
    Content: ({ heading, content }) =>
      html`${heading !== null && html`<span class="muted">${heading}: </span>`}${content}`,
    Score: ({ chunk_id, score, parts }) =>
      html`<${Score} score=${score} />${parts && html`<${ScoreParts} of=${chunk_id} parts=${parts} />`}`,
  }
  const how =
    embedder === null ? 'keyword search only: no embedder is configured' : `by words, and by meaning with ${embedder}`
  const left = left_out.map(({ chunk_id, ...rest }) => ({ id: chunk_id, ...rest }))
  return html`<${TablePanel} label="Found" table="Hits" head=${html`Found <span class="muted">${how}</span>`} columns=${columns} rows=${data} empty="No chunk answers this. Try another word, or look whether the sources below are ready.">
    <${LeftOutList} left=${left} href=${() => hashAt(place)} />
  <//>`
}

/** @param {{ place: Place, hit: Hit, title: string | null }} props */
const From = ({ place, hit: { source_id, citation }, title }) => html`
  <a href=${hashAt(place, { source: source_id, from: String(citation.start) })}>${title ?? citation.title ?? source_id}</a>${' '}
  <span class="muted">${citation.page === undefined ? '' : `page ${citation.page}, `}characters ${citation.start} to ${citation.end}</span>
`
