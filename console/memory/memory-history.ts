import type { Memory } from '#client/api/index.ts'
import { callApi } from '../api.ts'
import { time } from '../format.ts'
import { html } from '../html.ts'
import { nothing } from '../parts/cells.ts'
import { Table } from '../parts/table.ts'
import { Trouble } from '../parts/trouble.ts'
import { useRead } from '../parts/use-read.ts'
import { hashAt } from '../route.ts'

type Past = Answers['memory.history']['history'][number]

/** The facts of a memory, and its history. */
export const MemoryHistory = ({ place, row: { id, facts, updated_at, superseded_by } }: Props & { row: Memory }) => {
  const { tenant = '' } = place.query
  const { data, error } = useRead(`${id} ${updated_at}`, (signal) =>
    callApi(place.project, 'memory.history', { params: { memory_id: id }, tenant, signal }),
  )
  const entity = (name: string) => html`<a href=${hashAt(place, { entity: name })}>${name}</a>`
  const columns: Columns<Past> = {
    Time: ({ at }) => html`<time datetime=${at}>${time(at)}</time>`,
    Change: ({ event }) =>
      html`<span class="chip" data-tone=${event === 'superseded' ? 'wait' : 'calm'}>${event}</span>`,
    Content: ({ content }) => content,
    Valid: ({ valid_from: from, valid_to: to }) =>
      from === null && to === null ? nothing : `${from?.slice(0, 10) ?? '…'} to ${to?.slice(0, 10) ?? 'now'}`,
    Memory: (past) => (past.id === id ? 'this one' : html`<a href=${hashAt(place, { open: past.id })}>${past.id}</a>`),
  }
  return html`
    ${superseded_by !== null && html`<p>Superseded by <a href=${hashAt(place, { open: superseded_by })} title=${superseded_by}>a newer one</a>.</p>`}
    ${facts.length > 0 && html`<h3>Facts</h3><ul class="links">${facts.map(({ subject, relation, object }) => html`<li>${entity(subject)} ${relation} ${entity(object)}</li>`)}</ul>`}
    <h3>History</h3>
    <${Trouble} error=${error} within="panel-part" />
    ${data !== null && html`<${Table} label="History" columns=${columns} rows=${data.history} keyOf=${(_: Past, at: number) => at} />`}
  `
}
