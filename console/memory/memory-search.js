import { callApi, wordsOf } from '../api.js'
import { html } from '../html.js'
import { LeftOutList, Score, ScoreParts } from '../parts/score.js'
import { nothing, Table } from '../parts/table.js'
import { useRead } from '../parts/use-read.js'
import { hashAt } from '../route.js'
import { whereOf } from './memory-list.js'
import { ownerOf } from './memory-owner.js'

/**
 * @typedef {import('../parts/query-form.js').Place} Place
 * @typedef {import('#client/api/index.ts').MemoryHit} Hit
 * @typedef {{ results: readonly Hit[], abstained: boolean, embedder: string | null, costUsd: number, left_out?: readonly import('../parts/score.js').LeftOut[] }} Found
 */

const maxHits = 20

/** Search results, with an explanation of each score. @param {{ place: Place }} props */
export const MemorySearch = ({ place }) => {
  const { project, query } = place
  const { user, tenant } = ownerOf(place)
  const { q = '', as_of = '' } = query
  const { data, error } = useRead(`${tenant} ${user} ${q} ${as_of}`, (signal) => {
    // a time without a zone is in the user's own
    const asOf = as_of === '' ? {} : { asOf: new Date(as_of).toISOString() }
    const body = { userId: user, query: q, topK: maxHits, threshold: 0, explain: true, ...asOf }
    return callApi(project, 'memory.search', { body, tenant, signal })
  })
  return html`
    <section class="panel" aria-label="Found">
      <h2>Found for “${q}”${as_of !== '' && html` <span class="muted">as it was known to be at ${as_of.replace('T', ' ')}</span>`} <a class="close" href=${hashAt(place, { q: '', as_of: '' })}>Close</a></h2>
      ${data === null && error === null && html`<p class="panel-part muted">Searching …</p>`}
      ${error !== null && html`<p class="panel-part trouble" role="alert">${wordsOf(error)}</p>`}
      ${data !== null && html`<${Hits} place=${place} found=${data} />`}
    </section>
  `
}

/** @param {{ place: Place, found: Found }} props */
const Hits = ({ place, found: { results, embedder, left_out = [] } }) => html`
  <p class="panel-part muted">${embedder === null ? 'Keyword search only: no embedder is configured.' : `By words, and by meaning with ${embedder}.`} Turns receive hits with a score of 0.7 or more.</p>
  ${
    results.length === 0
      ? html`<p class="panel-part">Nothing answers this. Try another word${place.query.as_of ? ', or another time' : ''}.</p>`
      : html`<${Table} label="Hits" columns=${['Memory', 'Score', 'Matched by', 'Scope', 'Observed']} rows=${results.map(
          (hit) => rowOf(place, hit),
        )} />`
  }
  <${LeftOutList} left=${left_out} href=${(/** @type {string} */ id) => hashAt(place, { id })} />
`

/** @param {Place} place @param {Hit} hit */
const rowOf = (place, hit) => ({
  key: hit.id,
  cells: [
    html`<a href=${hashAt(place, { id: hit.id })} title=${hit.id} data-id=${hit.id}>${hit.content}</a>`,
    html`<${Score} score=${hit.score} />${hit.parts && html`<${ScoreParts} of=${hit.id} parts=${hit.parts} />`}`,
    hit.source === 'graph'
      ? `${hit.hops ?? 1} relations away`
      : hit.source === 'vector'
        ? 'keywords and meaning'
        : 'words',
    whereOf(hit),
    hit.observed_at === null ? nothing : html`<time datetime=${hit.observed_at}>${hit.observed_at.slice(0, 10)}</time>`,
  ],
})
