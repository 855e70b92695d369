import { callApi, wordsOf } from '../api.js'
import { html } from '../html.js'
import { Table } from '../parts/table.js'
import { useRead } from '../parts/use-read.js'
import { hashAt } from '../route.js'
import { ownerOf } from './memory-owner.js'

/**
 * @typedef {import('../parts/query-form.js').Place} Place
 * @typedef {{ source: string, relation: string, target: string }} Edge
 */

/** Relations of an entity, up to two steps away. @param {{ place: Place, entity: string }} props */
export const EntityPanel = ({ place, entity }) => {
  const { user, tenant } = ownerOf(place)
  const { data, error } = useRead(`${tenant} ${user} ${entity}`, (signal) =>
    callApi(place.project, 'memory.graph', { query: { userId: user, entity, hops: 2 }, tenant, signal }),
  )
  /** @param {string} name */
  const link = (name) => (name === entity ? name : html`<a href=${hashAt(place, { entity: name })}>${name}</a>`)
  return html`
    <section class="panel" aria-label=${`Relations of ${entity}`}>
      <h2>Relations of ${entity} <a class="close" href=${hashAt(place, { entity: '' })}>Close</a></h2>
      ${error !== null && html`<p class="panel-part trouble" role="alert">${wordsOf(error)}</p>`}
      ${
        data !== null &&
        (data.edges.length === 0
          ? html`<p class="panel-part muted">Nothing is known of it for this user.</p>`
          : html`<${Table} label="Relations" columns=${['From', 'Relation', 'To']} rows=${data.edges.map(
              (/** @type {Edge} */ { source, relation, target }) => ({
                key: `${source} ${relation} ${target}`,
                cells: [link(source), relation, link(target)],
              }),
            )} />`)
      }
    </section>
  `
}
