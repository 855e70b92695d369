import { callApi } from '../api.js'
import { time } from '../format.js'
import { html } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { nothing } from '../parts/cells.js'
import { ReadPanel } from '../parts/panel.js'
import { Table } from '../parts/table.js'
import { useRead } from '../parts/use-read.js'
import { hashAt } from '../route.js'
import { sessionNow } from '../session.js'
import { Holds, ownerOf, whereOf } from './memory-list.js'

/**
 * @typedef {Answers['memory.history']['history'][number]} Past
 * @typedef {{ memory: import('./memory-list.js').StoredMemory, history: readonly Past[] }} Read
 */

/** One memory: its content, its facts, and its history. @param {{ place: Place, id: string }} props */
export const MemoryPanel = ({ place, id }) => {
  const { project } = place
  const { tenant } = ownerOf(place)
  const params = { memory_id: id }
  const read = useRead(id, async (signal) => {
    const [memory, { history }] = await Promise.all([
      callApi(project, 'memory.get', { params, tenant, signal }),
      callApi(project, 'memory.history', { params, tenant, signal }),
    ])
    return { memory, history }
  })
  const remove = async () => {
    await callApi(project, 'memory.delete', { params, tenant })
    location.hash = hashAt(place, { id: '' })
  }
  /** @param {Read} data */
  const show = (data) => html`
    <${Shown} place=${place} ...${data} />
    ${sessionNow().operates && html`<p class="panel-part"><${ActButton} label="Delete" sure="Delete permanently" act=${remove} /></p>`}
  `
  return html`<${ReadPanel} label=${`Memory ${id}`} head=${html`Memory <code>${id}</code>`} close=${hashAt(place, { id: '' })} read=${read} show=${show} />`
}

/** @param {{ place: Place } & Read} props */
const Shown = ({ place, memory, history }) => {
  /** @type {Columns<Past>} */
  const columns = {
    Time: ({ at }) => html`<time datetime=${at}>${time(at)}</time>`,
    Change: ({ event }) =>
      html`<span class="chip" data-tone=${event === 'superseded' ? 'wait' : 'calm'}>${event}</span>`,
    Content: ({ content }) => content,
    Valid: heldOf,
    Memory: ({ id }) => (id === memory.id ? 'this one' : html`<a href=${hashAt(place, { id })}>${id}</a>`),
  }
  return html`
    <p class="panel-part">${memory.content}</p>
    <dl class="facts">
      <dt>Of</dt><dd><a href=${hashAt(place, { user: memory.userId })}>${memory.userId}</a></dd>
      <dt>Scope</dt><dd>${whereOf(memory)}</dd>
      <dt>Valid</dt><dd><${Holds} place=${place} memory=${memory} /></dd>
      <dt>Importance</dt><dd>${memory.importance}</dd>
      <dt>Written by</dt><dd>${memory.source}</dd>
      <dt>Observed</dt><dd>${time(memory.observed_at)}</dd>
      <dt>Vector</dt><dd>${memory.embedder ?? 'none yet'}</dd>
      <dt>Redacted</dt><dd>${memory.redacted.length === 0 ? 'nothing' : memory.redacted.join(', ')}</dd>
      <dt>Expires</dt><dd>${memory.expires_at === null ? 'never' : time(memory.expires_at)}</dd>
    </dl>
    ${
      memory.facts.length > 0 &&
      html`<h3>Facts</h3><ul class="links">${memory.facts.map(
        ({ subject, relation, object }) =>
          html`<li><a href=${hashAt(place, { entity: subject })}>${subject}</a> ${relation} <a href=${hashAt(place, { entity: object })}>${object}</a></li>`,
      )}</ul>`
    }
    <h3>History</h3>
    <${Table} label="History" columns=${columns} rows=${history} keyOf=${(/** @type {Past} */ _, /** @type {number} */ at) => at} />
  `
}

/** @param {Past} past */
const heldOf = ({ valid_from, valid_to }) => {
  if (valid_from === null && valid_to === null) return nothing
  return `${valid_from?.slice(0, 10) ?? '…'} to ${valid_to?.slice(0, 10) ?? 'now'}`
}
