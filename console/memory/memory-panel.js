import { callApi, wordsOf } from '../api.js'
import { time } from '../format.js'
import { html } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { nothing, Table } from '../parts/table.js'
import { useRead } from '../parts/use-read.js'
import { hashAt } from '../route.js'
import { sessionNow } from '../session.js'
import { Holds, whereOf } from './memory-list.js'
import { ownerOf } from './memory-owner.js'

/**
 * @typedef {import('../parts/query-form.js').Place} Place
 * @typedef {{ id: string, content: string, valid_from: string | null, valid_to: string | null, at: string, event: 'written' | 'changed' | 'superseded' }} Past
 */

/** One memory: its content, its facts, and its history. @param {{ place: Place, id: string }} props */
export const MemoryPanel = ({ place, id }) => {
  const { project } = place
  const { tenant } = ownerOf(place)
  const params = { memory_id: id }
  const { data, error } = useRead(id, async (signal) => {
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
  return html`
    <section class="panel" aria-label=${`Memory ${id}`}>
      <h2>Memory <code>${id}</code> <a class="close" href=${hashAt(place, { id: '' })}>Close</a></h2>
      ${error !== null && html`<p class="panel-part trouble" role="alert">${wordsOf(error)}</p>`}
      ${data !== null && html`<${Shown} place=${place} memory=${data.memory} history=${data.history} />`}
      ${data !== null && sessionNow().operates && html`<p class="panel-part"><${ActButton} label="Delete" sure="Delete permanently" act=${remove} /></p>`}
    </section>
  `
}

/** @param {{ place: Place, memory: import('./memory-list.js').StoredMemory, history: readonly Past[] }} props */
const Shown = ({ place, memory, history }) => html`
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
  <${Table} label="History" columns=${['Time', 'Change', 'Content', 'Valid', 'Memory']} rows=${history.map(
    (past, at) => ({
      key: `${past.id} ${at}`,
      cells: [
        html`<time datetime=${past.at}>${time(past.at)}</time>`,
        html`<span class="chip" data-tone=${past.event === 'superseded' ? 'wait' : 'calm'}>${past.event}</span>`,
        past.content,
        heldOf(past),
        past.id === memory.id ? 'this one' : html`<a href=${hashAt(place, { id: past.id })}>${past.id}</a>`,
      ],
    }),
  )} />
`

/** @param {Past} past */
const heldOf = ({ valid_from, valid_to }) => {
  if (valid_from === null && valid_to === null) return nothing
  return `${valid_from?.slice(0, 10) ?? '…'} to ${valid_to?.slice(0, 10) ?? 'now'}`
}
