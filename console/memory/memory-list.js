import { callApi, wordsOf } from '../api.js'
import { html } from '../html.js'
import { nothing, When } from '../parts/cells.js'
import { Pages } from '../parts/pages.js'
import { TablePanel } from '../parts/panel.js'
import { useRead } from '../parts/use-read.js'
import { hashAt } from '../route.js'
import { sessionNow } from '../session.js'

/** @typedef {import('#client/api/index.ts').Memory} StoredMemory */

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
        ({ name, relations }) =>
          html`<li><a href=${hashAt(place, { entity: name })}>${name}</a> <span class="muted">${relations}</span></li>`,
      )}</ul></section>`
    }
    ${data !== null && html`<${Listed} place=${place} page=${data} />`}
  `
}

/** @param {{ place: Place, page: Answers['memory.list'] }} props */
const Listed = ({ place, page: { memories, nextCursor } }) => {
  /** @type {Columns<StoredMemory>} */
  const columns = {
    Memory: ({ id, content }) => html`<a href=${hashAt(place, { id })} title=${id} data-id=${id}>${content}</a>`,
    Scope: whereOf,
    'Written by': ({ source }) => source,
    Valid: (memory) => html`<${Holds} place=${place} memory=${memory} />`,
    Written: ({ created_at }) => html`<${When} at=${created_at} />`,
  }
  const empty = html`Nothing is remembered of this user.${sessionNow().operates && html` <a href=${hashAt(place, { new: 'yes' })}>Write a memory</a>.`}`
  return html`<${TablePanel} label="Memories" head=${html`Memories <span class="muted">newest first</span>`} columns=${columns} rows=${memories} empty=${empty}>
    <${Pages} first=${place.query.after ? hashAt(place, { after: '' }) : null} next=${nextCursor && hashAt(place, { after: nextCursor })} />
  <//>`
}

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

/** The user and tenant in the URL, which every memory operation needs. @param {Place} place */
export const ownerOf = ({ query: { user = '', tenant = '' } }) => ({ user, tenant })
