import { callApi } from '../api.js'
import { html } from '../html.js'
import { ReadPanel } from '../parts/panel.js'
import { Table } from '../parts/table.js'
import { useRead } from '../parts/use-read.js'
import { hashAt } from '../route.js'

/** @typedef {Answers['memory.graph']} Graph */

/** Relations of an entity, up to two steps away. @param {{ place: Place, entity: string }} props */
export const EntityPanel = ({ place, entity }) => {
  const { user = '', tenant = '' } = place.query
  const read = useRead(`${tenant} ${user} ${entity}`, (signal) =>
    callApi(place.project, 'memory.graph', { query: { userId: user, entity, hops: 2 }, tenant, signal }),
  )
  /** @param {string} name */
  const link = (name) => (name === entity ? name : html`<a href=${hashAt(place, { entity: name })}>${name}</a>`)
  /** @type {Columns<Graph['edges'][number]>} */
  const columns = {
    From: ({ source }) => link(source),
    Relation: ({ relation }) => relation,
    To: ({ target }) => link(target),
  }
  /** @param {Graph} graph */
  const show = ({ edges }) =>
    edges.length === 0
      ? html`<p class="panel-part muted">Nothing is known of it for this user.</p>`
      : html`<${Table} label="Relations" columns=${columns} rows=${edges} />`
  return html`<${ReadPanel} label=${`Relations of ${entity}`} head=${`Relations of ${entity}`} close=${hashAt(place, { entity: '' })} read=${read} show=${show} />`
}
