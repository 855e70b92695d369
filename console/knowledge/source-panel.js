import { callApi } from '../api.js'
import { html, useEffect } from '../html.js'
import { nothing } from '../parts/cells.js'
import { ReadPanel } from '../parts/panel.js'
import { Table } from '../parts/table.js'
import { useRead } from '../parts/use-read.js'
import { hashAt, routeHash } from '../route.js'

/** @typedef {Answers['knowledge_sources.chunks']} Chunks */

const pageSize = 50

/** The chunks of a source in order, each with its offsets in the text. @param {{ place: Place, base: string, source: import('./knowledge-page.js').Source | null }} props */
export const SourcePanel = ({ place, base, source }) => {
  const { source: id = '', chunks: cursor } = place.query
  const read = useRead(`${id} ${cursor ?? ''} ${source?.synced_at ?? ''}`, (signal) =>
    callApi(place.project, 'knowledge_sources.chunks', {
      ...{ params: { knowledge_base_id: base, source_id: id }, query: { limit: pageSize, cursor }, signal },
    }),
  )
  useEffect(() => document.querySelector('.cited')?.scrollIntoView({ block: 'center' }), [read.data])
  const head = html`Source <a href=${routeHash({ view: 'actor', project: place.project, id })}>${id}</a> <span class="muted">${source?.title ?? ''}</span>`
  return html`<${ReadPanel} label=${`Source ${id}`} head=${head} close=${hashAt(place, { source: '', from: '', chunks: '' })} read=${read} show=${(/** @type {Chunks} */ page) => html`<${ChunkTable} place=${place} page=${page} />`}>
    ${source?.error && html`<p class="panel-part trouble" role="alert">${source.error.code}: ${source.error.message}</p>`}
  <//>`
}

/** @param {{ place: Place, page: Chunks }} props */
const ChunkTable = ({ place, page: { data, next_cursor } }) => {
  if (data.length === 0)
    return html`<p class="panel-part muted">No chunks yet: the source has not been read, or it is empty.</p>`
  const from = Number(place.query.from ?? Number.NaN)
  /** @type {Columns<Chunks['data'][number]>} */
  const columns = {
    Offsets: ({ id, start, end }) =>
      html`<span class=${start <= from && from < end ? 'cited chip' : ''} data-tone="work" title=${id}>${start} to ${end}</span>`,
    Content: ({ content }) => content,
    Page: ({ page }) => page ?? nothing,
    Heading: ({ heading }) => heading ?? nothing,
  }
  return html`
    <${Table} label="Chunks" columns=${columns} rows=${data} />
    <nav class="pages" aria-label="Chunks">
      ${(place.query.chunks ?? '') !== '' && html`<a href=${hashAt(place, { chunks: '' })}>First</a>`}
      ${next_cursor !== null && html`<a href=${hashAt(place, { chunks: next_cursor })} rel="next">More</a>`}
    </nav>
  `
}
