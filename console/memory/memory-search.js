import { callApi } from '../api.js'
import { html } from '../html.js'
import { nothing } from '../parts/cells.js'
import { ReadPanel } from '../parts/panel.js'
import { LeftOutList, Score, ScoreParts } from '../parts/score.js'
import { Table } from '../parts/table.js'
import { useRead } from '../parts/use-read.js'
import { hashAt } from '../route.js'

/** @typedef {Answers['memory.search']} Found */

const maxHits = 20

/** Search results, with an explanation of each score. @param {{ place: Place }} props */
export const MemorySearch = ({ place }) => {
  const { project, query } = place
  const { user = '', tenant = '' } = place.query
  const { q = '', as_of = '' } = query
  const read = useRead(`${tenant} ${user} ${q} ${as_of}`, (signal) => {
    // a time without a zone is in the user's own
    const asOf = as_of === '' ? {} : { asOf: new Date(as_of).toISOString() }
    const body = { userId: user, query: q, topK: maxHits, threshold: 0, explain: true, ...asOf }
    return callApi(project, 'memory.search', { body, tenant, signal })
  })
  const head = html`Found for “${q}”${as_of !== '' && html` <span class="muted">as it was known to be at ${as_of.replace('T', ' ')}</span>`}`
  return html`<${ReadPanel} label="Found" head=${head} close=${hashAt(place, { q: '', as_of: '' })} read=${read} show=${(/** @type {Found} */ found) => html`<${Hits} place=${place} found=${found} />`}>
    ${read.data === null && read.error === null && html`<p class="panel-part muted">Searching …</p>`}
  <//>`
}

/** @param {{ place: Place, found: Found }} props */
const Hits = ({ place, found: { results, embedder, left_out = [] } }) => {
  /** @type {Columns<Found['results'][number]>} */
  const columns = {
    Memory: ({ id, content }) => html`<a href=${hashAt(place, { open: id })} title=${id} data-id=${id}>${content}</a>`,
    Score: ({ id, score, parts }) =>
      html`<${Score} score=${score} />${parts && html`<${ScoreParts} of=${id} parts=${parts} />`}`,
    'Matched by': ({ source, hops }) => {
      if (source === 'graph') return `${hops ?? 1} relations away`
      return source === 'vector' ? 'keywords and meaning' : 'words'
    },
    Scope: ({ scope, sessionId, namespace }) => [scope, sessionId, namespace].filter(Boolean).join(' · ') || nothing,
    Observed: ({ observed_at: at }) => (at === null ? nothing : html`<time datetime=${at}>${at.slice(0, 10)}</time>`),
  }
  return html`
    <p class="panel-part muted">${embedder === null ? 'Keyword search only: no embedder is configured.' : `By words, and by meaning with ${embedder}.`} Turns receive hits with a score of 0.7 or more.</p>
    ${results.length === 0 ? html`<p class="panel-part">Nothing answers this. Try another word${place.query.as_of ? ', or another time' : ''}.</p>` : html`<${Table} label="Hits" columns=${columns} rows=${results} />`}
    <${LeftOutList} left=${left_out} href=${(/** @type {string} */ id) => hashAt(place, { open: id })} />
  `
}
