import { callApi, wordsOf } from '../api.js'
import { html } from '../html.js'
import { Pages } from '../parts/pages.js'
import { nothing, Table } from '../parts/table.js'
import { useRead } from '../parts/use-read.js'
import { When } from '../parts/when.js'
import { hashAt } from '../route.js'
import { sessionNow } from '../session.js'
import { ownerOf } from './memory-owner.js'

/**
 * @typedef {import('../parts/query-form.js').Place} Place
 * @typedef {import('#client/api/index.ts').Memory} StoredMemory
 */

const pageSize = 20

/** All of a user's memories, newest first, and the entities in them. @param {{ place: Place }} props */
export const MemoryList = ({ place }) => {
  const { project, query } = place
  const { user, tenant } = ownerOf(place)
  const { data, error } = useRead(`${tenant} ${user} ${query.after ?? ''}`, (signal) =>
    callApi(project, 'memory.list', { query: { userId: user, limit: pageSize, cursor: query.after }, tenant, signal }),
  )
  const { data: found } = useRead(`${tenant} ${user}`, (signal) =>
    callApi(project, 'memory.entities', { query: { userId: user, limit: 30 }, tenant, signal }),
  )
  return html`
    ${error !== null && html`<p class="panel panel-part trouble" role="alert">${wordsOf(error)}</p>`}
    ${
      found !== null &&
      found.entities.length > 0 &&
      html`<section class="panel" aria-label="Entities"><h2>Entities <span class="muted">most relations first</span></h2><ul class="links">${found.entities.map(
        (/** @type {{ name: string, relations: number }} */ { name, relations }) =>
          html`<li><a href=${hashAt(place, { entity: name })}>${name}</a> <span class="muted">${relations}</span></li>`,
      )}</ul></section>`
    }
    ${data !== null && html`<${Listed} place=${place} page=${data} />`}
  `
}

/** @param {{ place: Place, page: { memories: readonly StoredMemory[], nextCursor: string | null } }} props */
const Listed = ({ place, page: { memories, nextCursor } }) => html`
  <section class="panel" aria-label="Memories">
    <h2>Memories <span class="muted">newest first</span></h2>
    ${
      memories.length === 0
        ? html`<p class="panel-part muted">Nothing is remembered of this user.${sessionNow().operates && html` <a href=${hashAt(place, { new: 'yes' })}>Write a memory</a>.`}</p>`
        : html`<${Table} label="Memories" columns=${['Memory', 'Scope', 'Written by', 'Valid', 'Written']} rows=${memories.map(
            (memory) => rowOf(place, memory),
          )} />`
    }
    <${Pages} first=${place.query.after ? hashAt(place, { after: '' }) : null} next=${nextCursor && hashAt(place, { after: nextCursor })} />
  </section>
`

/** @param {Place} place @param {StoredMemory} memory */
const rowOf = (place, memory) => ({
  key: memory.id,
  cells: [
    html`<a href=${hashAt(place, { id: memory.id })} title=${memory.id} data-id=${memory.id}>${memory.content}</a>`,
    whereOf(memory),
    memory.source,
    html`<${Holds} place=${place} memory=${memory} />`,
    html`<${When} at=${memory.created_at} />`,
  ],
})

/** @param {Pick<StoredMemory, 'scope' | 'sessionId' | 'namespace'>} memory */
export const whereOf = ({ scope, sessionId, namespace }) =>
  [scope, sessionId, namespace].filter((part) => part !== null).join(' · ') || nothing

/** The validity of a memory. @param {{ place: Place, memory: StoredMemory }} props */
export const Holds = ({ place, memory: { superseded_by, valid_to, pinned } }) => {
  if (superseded_by !== null)
    return html`<span class="chip" data-tone="wait">superseded</span> by <a href=${hashAt(place, { id: superseded_by })} title=${superseded_by}>a newer one</a>`
  if (valid_to !== null) return html`until <time datetime=${valid_to}>${valid_to.slice(0, 10)}</time>`
  return html`<span class="chip">${pinned ? 'pinned' : 'now'}</span>`
}
