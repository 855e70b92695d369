import { age } from './age.js'
import { callApi } from './api.js'
import { machineName, time, toneOf } from './format.js'
import { html } from './html.js'
import { LivePage } from './live-page.js'
import { listHash, routeHash } from './route.js'

/**
 * @typedef {import('./route.js').ListRoute & { project: string }} ListPlace
 * @typedef {object} ListedActor
 * @property {string} id
 * @property {string} machine
 * @property {string} state
 * @property {string} activity
 * @property {string | null} label
 * @property {string | null} error
 * @property {number} failures
 * @property {string | null} tenant_id
 * @property {string | null} external_user_id
 * @property {string | null} agent_id
 * @property {string} created_at
 * @property {string} updated_at
 * @typedef {{ actors: { data: readonly ListedActor[], next_cursor: string | null }, machines: readonly import('./fleet-page.js').FleetMachine[] }} Listed
 */

const pageSize = 50
const refreshMs = 3000

/**
 * Actors of one kind, filtered by state, tenant, agent, error and time; all filters are in the URL.
 *
 * @param {ListPlace} place
 * @param {(error: unknown) => void} report
 */
export const listPage = (place, report) =>
  new LivePage({
    /** @returns {Promise<Listed>} */
    read: async () => {
      const [actors, { data }] = await Promise.all([
        callApi(place.project, 'observation.actors', { query: queryOf(place) }),
        callApi(place.project, 'observation.fleet'),
      ])
      return { actors, machines: inOrder(data) }
    },
    show: (listed) => html`<${List} place=${place} ...${listed} />`,
    everyMs: refreshMs,
    report,
  })

/** Kinds to list first. */
const known = ['session', 'run', 'action', 'delivery']

/** @param {readonly import('./fleet-page.js').FleetMachine[]} machines */
const inOrder = (machines) => [
  ...known.flatMap((name) => machines.filter(({ machine }) => machine === name)),
  ...machines.filter(({ machine }) => !known.includes(machine)).toSorted((a, b) => a.machine.localeCompare(b.machine)),
]

/** @param {ListPlace} place */
const queryOf = ({ machine, state, tenant, agent, error, tool, from, to, after }) => ({
  limit: pageSize,
  ...{ machine, state, tenant_id: tenant, agent_id: agent, error, tool, from, to, cursor: after },
})

/** @param {string} machine */
const titleOf = (machine) => {
  const plural = machine === 'delivery' ? 'deliveries' : `${machineName(machine)}s`
  return plural.charAt(0).toUpperCase() + plural.slice(1)
}

/** @param {{ place: ListPlace } & Listed} props */
const List = ({ place, actors, machines }) => {
  const { data, next_cursor } = actors
  const machine = machines.find((each) => each.machine === place.machine)
  return html`
    <div class="view-head">
      <h1>${place.machine === '' ? 'All kinds' : titleOf(place.machine)}</h1>
      <nav class="filter" aria-label="Kinds">
        ${machines.map(
          (each) => html`
          <a href=${listHash({ project: place.project, machine: each.machine })} aria-current=${each.machine === place.machine ? 'true' : undefined}>${titleOf(each.machine)}</a>`,
        )}
      </nav>
    </div>
    <${Filters} key=${place.machine} place=${place} states=${machine?.states ?? []} />
    ${
      data.length === 0
        ? html`<${Empty} place=${place} />`
        : html`
        <div class="sessions"><table aria-label=${titleOf(place.machine || 'actor')}>
          <thead><tr>${columnsOf(place).map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
          <tbody>${data.map((actor) => html`<${Row} key=${actor.id} place=${place} actor=${actor} />`)}</tbody>
        </table></div>`
    }
    <nav class="pages" aria-label="Pages">
      ${place.after !== '' && html`<a href=${listHash({ ...place, after: '' })} rel="first">Newest</a>`}
      ${next_cursor !== null && html`<a href=${listHash({ ...place, after: next_cursor })} rel="next">Older</a>`}
    </nav>
  `
}

/** @param {ListPlace} place */
const columnsOf = ({ error, tool }) => [
  'Id',
  'State',
  ...(error === '' && tool === '' ? [] : ['Error']),
  'What',
  'Tenant',
  'Agent',
  'Created',
  'Last step',
]

/** @param {{ place: ListPlace, actor: ListedActor }} props */
const Row = ({ place, actor }) => html`
  <tr>
    <th scope="row"><a href=${routeHash({ view: 'actor', project: place.project, id: actor.id })}>${actor.id}</a></th>
    <td data-name="Status"><span class="chip" data-tone=${toneOf(actor.state)}>${actor.state}</span> ${actor.failures > 0 && html`<span class="chip" data-tone="bad" title="Failures in the last 24 hours">${actor.failures} failed</span>`}</td>
    ${(place.error !== '' || place.tool !== '') && html`<td data-name="Error"><span class="chip" data-tone="bad">${actor.error}</span></td>`}
    <td data-name="What">${actor.label ?? '–'}</td>
    <td data-name="Tenant">${actor.tenant_id === null ? '–' : html`<a href=${listHash({ ...place, tenant: actor.tenant_id, after: '' })}>${actor.tenant_id}</a>`}</td>
    <td data-name="Agent">${actor.agent_id === null ? '–' : html`<a href=${listHash({ ...place, agent: actor.agent_id, after: '' })}>${actor.agent_id}</a>`}</td>
    <td data-name="Created"><time datetime=${actor.created_at}>${time(actor.created_at)}</time></td>
    <td data-name="Updated"><time datetime=${actor.updated_at} title=${actor.updated_at}>${age(actor.updated_at)}</time></td>
  </tr>
`

/** @param {{ place: ListPlace, states: readonly import('./fleet-page.js').FleetState[] }} props */
const Filters = ({ place, states }) => {
  /** @param {Event} event */
  const apply = (event) => {
    event.preventDefault()
    const form = event.currentTarget
    if (!(form instanceof HTMLFormElement)) return
    const values = new FormData(form)
    /** @param {string} name */
    const value = (name) => String(values.get(name) ?? '').trim()
    const chosen = { state: value('state'), tenant: value('tenant'), agent: value('agent') }
    const failed = { error: value('error'), tool: value('tool') }
    location.hash = listHash({ ...place, ...chosen, ...failed, from: value('from'), to: value('to'), after: '' })
  }
  /** @param {Event} event */
  const submit = ({ currentTarget }) => {
    if (currentTarget instanceof HTMLSelectElement) currentTarget.form?.requestSubmit()
  }
  /** @param {'tenant' | 'agent' | 'error' | 'tool' | 'from' | 'to'} name @param {string} label @param {string} type */
  const field = (name, label, type = 'text') =>
    html`<label>${label}<input type=${type} name=${name} value=${place[name]} autocomplete="off" spellcheck=${false} /></label>`
  return html`
    <form class="filters" onSubmit=${apply} aria-label="Filters">
      <label>State<select name="state" onChange=${submit}>
        <option value="" selected=${place.state === ''}>any</option>
        ${states.map(({ state, actors }) => html`<option value=${state} selected=${state === place.state}>${state} (${actors})</option>`)}
      </select></label>
      ${field('tenant', 'Tenant')} ${field('agent', 'Agent')} ${field('error', 'Error')} ${field('tool', 'Failed tool')} ${field('from', 'From', 'date')} ${field('to', 'To', 'date')}
      <button type="submit" class="quiet">Apply</button>
      <a href=${listHash({ project: place.project, machine: place.machine })}>Clear</a>
    </form>
  `
}

/** @param {{ place: ListPlace }} props */
const Empty = ({ place }) => {
  const { project, machine, view, ...filters } = place
  const filtered = Object.values(filters).some(Boolean)
  if (filtered) return html`<p class="empty">No results match these filters.</p>`
  if (place.machine !== 'session') return html`<p class="empty">No ${titleOf(place.machine).toLowerCase()} yet.</p>`
  const command = `curl -X POST ${location.origin}/v1/sessions \\\n  -H "Authorization: Bearer $SECRET_KEY" \\\n  -H "Content-Type: application/json" -d '{}'`
  return html`<div class="empty"><p>No sessions yet. Start one with a secret key of this project:</p><pre tabindex="0">${command}</pre></div>`
}
