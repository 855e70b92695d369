import type { KnowledgeSource } from '#client/api/index.ts'
import { callApi } from '../api.ts'
import { html, useEffect } from '../html.ts'
import { nothing } from '../parts/cells.ts'
import { Table } from '../parts/table.ts'
import { Trouble } from '../parts/trouble.ts'
import { useRead } from '../parts/use-read.ts'
import { hashAt } from '../route.ts'

type Chunks = Answers['knowledge_sources.chunks']

const pageSize = 50

/** The chunks of a source in order, each with its offsets in the text. */
export const SourceChunks = (props: Props & { row: KnowledgeSource }) => {
  const { place, row } = props
  const { id, knowledge_base_id, synced_at } = row
  const { chunks: cursor = '', from = '' } = place.query
  const { data, error } = useRead(`${id} ${cursor} ${synced_at}`, (signal) =>
    callApi(place.project, 'knowledge_sources.chunks', {
      ...{ params: { knowledge_base_id, source_id: id }, query: { limit: pageSize, cursor }, signal },
    }),
  )
  useEffect(() => document.querySelector('.cited')?.scrollIntoView({ block: 'center' }), [data])
  if (data === null) return html`<${Trouble} error=${error} within="panel-part" />`
  if (data.data.length === 0)
    return html`<p class="panel-part muted">No chunks yet: the source has not been read, or it is empty.</p>`
  const isCited = (start: number, end: number) => from !== '' && start <= Number(from) && Number(from) < end
  const columns: Columns<Chunks['data'][number]> = {
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
