import { callApi } from '../api.ts'
import { html } from '../html.ts'
import { ReadPanel } from '../parts/panel.ts'
import { Table } from '../parts/table.ts'
import { useRead } from '../parts/use-read.ts'
import { hashAt } from '../route.ts'

type Graph = Answers['memory.graph']

/** Relations of an entity, up to two steps away. */
export const EntityPanel = ({ place, entity }: { place: Place; entity: string }) => {
  const { user = '', tenant = '' } = place.query
  const read = useRead(`${tenant} ${user} ${entity}`, (signal) =>
    callApi(place.project, 'memory.graph', { query: { userId: user, entity, hops: 2 }, tenant, signal }),
  )
  const link = (name: string) => (name === entity ? name : html`<a href=${hashAt(place, { entity: name })}>${name}</a>`)
  const columns: Columns<Graph['edges'][number]> = {
    From: ({ source }) => link(source),
    Relation: ({ relation }) => relation,
    To: ({ target }) => link(target),
  }
  const show = ({ edges }: Graph) =>
    edges.length === 0
      ? html`<p class="panel-part muted">Nothing is known of it for this user.</p>`
      : html`<${Table} label="Relations" columns=${columns} rows=${edges} />`
  return html`<${ReadPanel} label=${`Relations of ${entity}`} head=${`Relations of ${entity}`} close=${hashAt(place, { entity: '' })} read=${read} show=${show} />`
}
