import { callApi, wordsOf } from '../api.js'
import { html } from '../html.js'
import { QueryForm } from '../parts/query-form.js'
import { LeftOutList, Score, ScoreParts } from '../parts/score.js'
import { Table } from '../parts/table.js'
import { useRead } from '../parts/use-read.js'
import { hashAt } from '../route.js'

/**
 * @typedef {import('../parts/query-form.js').Place} Place
 * @typedef {{ source_id: string, title: string | null, page?: number, start: number, end: number }} Citation
 * @typedef {{ chunk_id: string, source_id: string, content: string, score: number, heading: string | null, citation: Citation, parts?: Readonly<Record<string, unknown>> }} Hit
 * @typedef {{ data: readonly Hit[], abstained: boolean, embedder: string | null, left_out?: readonly { chunk_id: string, reason: string, score?: number }[] }} Found
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
const Hits = ({ place, found: { data, embedder, left_out = [] }, titles }) => html`
  <section class="panel" aria-label="Found">
    <h2>Found <span class="muted">${embedder === null ? 'keyword search only: no embedder is configured' : `by words, and by meaning with ${embedder}`}</span></h2>
    ${
      data.length === 0
        ? html`<p class="panel-part">No chunk answers this. Try another word, or look whether the sources below are ready.</p>`
        : html`<${Table} label="Hits" columns=${['Source', 'Content', 'Score']} rows=${data.map((hit) => ({
            key: hit.chunk_id,
            cells: [
              html`<${From} place=${place} hit=${hit} title=${titles.get(hit.source_id) ?? null} />`,
              html`${hit.heading !== null && html`<span class="muted">${hit.heading}: </span>`}${hit.content}`,
              html`<${Score} score=${hit.score} />${hit.parts && html`<${ScoreParts} of=${hit.chunk_id} parts=${hit.parts} />`}`,
            ],
          }))} />`
    }
    <${LeftOutList} left=${left_out.map(({ chunk_id, ...rest }) => ({ id: chunk_id, ...rest }))} href=${() => hashAt(place)} />
  </section>
`

/** @param {{ place: Place, hit: Hit, title: string | null }} props */
const From = ({ place, hit: { source_id, citation }, title }) => html`
  <a href=${hashAt(place, { source: source_id, from: String(citation.start) })}>${title ?? citation.title ?? source_id}</a>${' '}
  <span class="muted">${citation.page === undefined ? '' : `page ${citation.page}, `}characters ${citation.start} to ${citation.end}</span>
`
