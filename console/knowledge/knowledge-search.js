import { callApi } from '../api.js'
import { html } from '../html.js'
import { ReadPanel } from '../parts/panel.js'
import { QueryForm } from '../parts/query-form.js'
import { LeftOutList, Score, ScoreParts } from '../parts/score.js'
import { Table } from '../parts/table.js'
import { useRead } from '../parts/use-read.js'
import { hashAt } from '../route.js'

/** @typedef {Answers['knowledge_bases.search']} Found */

const fields = /** @type {const} */ ([{ name: 'q', label: 'Search', wide: true }])
const maxHits = 10

/** A search in a knowledge base, with an explanation of each score. @param {{ place: Place, row: { id: string } }} props */
export const KnowledgeSearch = ({ place, row: { id } }) => {
  const { q = '' } = place.query
  const read = useRead(q === '' ? '' : `${id} ${q}`, (signal) =>
    callApi(place.project, 'knowledge_bases.search', {
      params: { knowledge_base_id: id },
      body: { query: q, top_k: maxHits, explain: true },
      signal,
    }),
  )
  return html`
    <${QueryForm} place=${place} label="Search the base" button="Search" fields=${fields} fresh=${['from', 'child']} />
    ${q !== '' && html`<${ReadPanel} label="Found" head=${`Found for “${q}”`} close=${hashAt(place, { q: '' })} read=${read} show=${(/** @type {Found} */ found) => html`<${Hits} place=${place} found=${found} />`} />`}
  `
}

/** @param {{ place: Place, found: Found }} props */
const Hits = ({ place, found: { data, embedder, left_out = [] } }) => {
  /** @type {Columns<Found['data'][number]>} */
  const columns = {
    Source: ({ source_id, citation: { start, end, page, title } }) =>
      html`<a href=${hashAt(place, { child: source_id, from: String(start) })}>${title ?? source_id}</a> <span class="muted">${page === undefined ? '' : `page ${page}, `}characters ${start} to ${end}</span>`,
    Content: ({ heading, content }) =>
      html`${heading !== null && html`<span class="muted">${heading}: </span>`}${content}`,
    Score: ({ chunk_id, score, parts }) =>
      html`<${Score} score=${score} />${parts && html`<${ScoreParts} of=${chunk_id} parts=${parts} />`}`,
  }
  const how =
    embedder === null ? 'Keyword search only: no embedder is configured.' : `By words, and by meaning with ${embedder}.`
  return html`
    <p class="panel-part muted">${how}</p>
    ${data.length === 0 ? html`<p class="panel-part muted">No chunk answers this. Try another word, or look whether the sources below are ready.</p>` : html`<${Table} label="Hits" columns=${columns} rows=${data} />`}
    <${LeftOutList} left=${left_out.map(({ chunk_id, ...rest }) => ({ id: chunk_id, ...rest }))} href=${() => hashAt(place)} />
  `
}
