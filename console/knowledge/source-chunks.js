import { callApi, wordsOf } from '../api.js'
import { html, useEffect } from '../html.js'
import { nothing } from '../parts/cells.js'
import { Table } from '../parts/table.js'
import { useRead } from '../parts/use-read.js'
import { hashAt } from '../route.js'

/** @typedef {Answers['knowledge_sources.chunks']} Chunks */

const pageSize = 50

/** The chunks of a source in order, each with its offsets in the text. @param {{ place: Place, row: import('#client/api/index.ts').KnowledgeSource }} props */
export const SourceChunks = ({ place, row: { id, knowledge_base_id, synced_at } }) => {
  const { chunks: cursor = '', from = '' } = place.query
  const { data, error } = useRead(`${id} ${cursor} ${synced_at}`, (signal) =>
    callApi(place.project, 'knowledge_sources.chunks', {
      ...{ params: { knowledge_base_id, source_id: id }, query: { limit: pageSize, cursor }, signal },
    }),
  )
  useEffect(() => document.querySelector('.cited')?.scrollIntoView({ block: 'center' }), [data])
  if (data === null) return error !== null && html`<p class="panel-part trouble" role="alert">${wordsOf(error)}</p>`
  if (data.data.length === 0)
    return html`<p class="panel-part muted">No chunks yet: the source has not been read, or it is empty.</p>`
  const isCited = (/** @type {number} */ start, /** @type {number} */ end) =>
    from !== '' && start <= Number(from) && Number(from) < end
  /** @type {Columns<Chunks['data'][number]>} */
  const columns = {
    Offsets: ({ id: chunk, start, end }) =>
      html`<span class=${isCited(start, end) ? 'cited chip' : ''} data-tone="work" title=${chunk}>${start} to ${end}</span>`,
    Content: ({ content }) => content,
    Page: ({ page }) => page ?? nothing,
    Heading: ({ heading }) => heading ?? nothing,
  }
  return html`
    <${Table} label="Chunks" columns=${columns} rows=${data.data} />
    <nav class="flex justify-center gap-16 p-14" aria-label="Chunks">
      ${cursor !== '' && html`<a href=${hashAt(place, { chunks: '' })}>First</a>`}
      ${data.next_cursor !== null && html`<a href=${hashAt(place, { chunks: data.next_cursor })} rel="next">More</a>`}
    </nav>
  `
}
