import { callApi, wordsOf } from '../api.js'
import { html } from '../html.js'
import { Table } from '../parts/table.js'
import { useRead } from '../parts/use-read.js'
import { hashAt, routeHash } from '../route.js'
import { useEffect } from '../vendor/hooks.js'

/**
 * @typedef {import('../parts/query-form.js').Place} Place
 * @typedef {import('#client/api/index.ts').KnowledgeChunk} Chunk
 */

const pageSize = 50

/** The chunks of a source in order, each with its offsets in the text. @param {{ place: Place, base: string, source: import('./knowledge-page.js').Source | null }} props */
export const SourcePanel = ({ place, base, source }) => {
  const id = place.query.source ?? ''
  const from = Number(place.query.from ?? Number.NaN)
  const { data, error } = useRead(`${id} ${place.query.chunks ?? ''} ${source?.synced_at ?? ''}`, (signal) =>
    callApi(place.project, 'knowledge_sources.chunks', {
      params: { knowledge_base_id: base, source_id: id },
      query: { limit: pageSize, cursor: place.query.chunks },
      signal,
    }),
  )
  useEffect(() => document.querySelector('.cited')?.scrollIntoView({ block: 'center' }), [data])
  return html`
    <section class="panel" aria-label=${`Source ${id}`}>
      <h2>Source <a href=${routeHash({ view: 'actor', project: place.project, id })}>${id}</a> <span class="muted">${source?.title ?? ''}</span> <a class="close" href=${hashAt(place, { source: '', from: '', chunks: '' })}>Close</a></h2>
      ${source?.error && html`<p class="panel-part trouble" role="alert">${source.error.code}: ${source.error.message}</p>`}
      ${error !== null && html`<p class="panel-part trouble" role="alert">${wordsOf(error)}</p>`}
      ${data !== null && html`<${Chunks} place=${place} page=${data} from=${from} />`}
    </section>
  `
}

/** @param {{ place: Place, page: { data: readonly Chunk[], next_cursor: string | null }, from: number }} props */
const Chunks = ({ place, page: { data, next_cursor }, from }) =>
  data.length === 0
    ? html`<p class="panel-part muted">No chunks yet: the source has not been read, or it is empty.</p>`
    : html`
  <${Table} label="Chunks" columns=${['Offsets', 'Content', 'Page', 'Heading']} rows=${data.map(
    ({ id, content, start, end, page, heading }) => ({
      key: id,
      cells: [
        html`<span class=${start <= from && from < end ? 'cited chip' : ''} data-tone="work" title=${id}>${start} to ${end}</span>`,
        content,
        page ?? '–',
        heading ?? '–',
      ],
    }),
  )} />
  <nav class="pages" aria-label="Chunks">
    ${(place.query.chunks ?? '') !== '' && html`<a href=${hashAt(place, { chunks: '' })}>First</a>`}
    ${next_cursor !== null && html`<a href=${hashAt(place, { chunks: next_cursor })} rel="next">More</a>`}
  </nav>`
