import { callApi } from './api.js'
import { machineName, time, toneOf } from './format.js'
import { html } from './html.js'
import { LivePage } from './live-page.js'
import { nameOf, readNames } from './names.js'
import { CsvButton } from './parts/csv-button.js'
import { Empty } from './parts/empty.js'
import { Pages } from './parts/pages.js'
import { QueryForm } from './parts/query-form.js'
import { nothing, Table } from './parts/table.js'
import { When } from './parts/when.js'
import { compareHash, listHash, routeHash } from './route.js'
import { hasTalk } from './talk-panel.js'
import { useState } from './vendor/hooks.js'

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
/** Of a file. */
const maxPage = 100
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
        readActors(place, place.after),
        callApi(place.project, 'observation.fleet'),
        readNames(place.project),
      ])
      return { actors, machines: inOrder(data) }
    },
    show: (listed) => html`<${List} place=${place} ...${listed} />`,
    everyMs: refreshMs,
    report,
  })

/** @param {ListPlace} place @param {string | undefined} cursor */
const readActors = (place, cursor, limit = pageSize) =>
  callApi(place.project, 'observation.actors', { query: { ...queryOf(place), limit, cursor } })

/** Kinds to list first. */
const known = ['session', 'run', 'action', 'delivery']

/** @param {readonly import('./fleet-page.js').FleetMachine[]} machines */
const inOrder = (machines) => [
  ...known.flatMap((name) => machines.filter(({ machine }) => machine === name)),
  ...machines.filter(({ machine }) => !known.includes(machine)).toSorted((a, b) => a.machine.localeCompare(b.machine)),
]

/** @param {ListPlace} place */
const queryOf = ({ machine, state, tenant, agent, error, tool, from, to }) => ({
  ...{ machine, state, tenant_id: tenant, agent_id: agent, error, tool, from, to },
})

/** @param {string} machine */
const titleOf = (machine) => {
  const name = machineName(machine)
  const plural = `${name.replace(/y$/, 'ie').replace(/ch$/, 'che')}s`
  return plural.charAt(0).toUpperCase() + plural.slice(1)
}

/** @param {{ place: ListPlace } & Listed} props */
const List = ({ place, actors: { data, next_cursor }, machines }) => {
  const { project, machine, error, tool, after } = place
  const title = machine === '' ? 'All kinds' : titleOf(machine)
  const failed = error !== '' || tool !== ''
  // two of them can be compared
  const [marked, setMarked] = useState(/** @type {readonly string[]} */ ([]))
  /** @param {string} id */
  const mark = (id) => setMarked(marked.includes(id) ? marked.filter((each) => each !== id) : [...marked, id].slice(-2))
  const columns = ['Id', 'State', ...(failed ? ['Error'] : []), 'What', 'Tenant', 'Agent', 'Created', 'Last step']
  /** @param {ListedActor} actor */
  const rowOf = (actor) => ({
    key: actor.id,
    cells: [
      html`${hasTalk(actor) && html`<input type="checkbox" aria-label=${`Compare ${actor.id}`} checked=${marked.includes(actor.id)} onChange=${() => mark(actor.id)} /> `}<a href=${routeHash({ view: 'actor', project, id: actor.id })}>${actor.id}</a>`,
      html`<span class="chip" data-tone=${toneOf(actor.state)}>${actor.state}</span> ${actor.failures > 0 && html`<span class="chip" data-tone="bad" title="Failures in the last 24 hours">${actor.failures} failed</span>`}`,
      ...(failed ? [html`<span class="chip" data-tone="bad">${actor.error}</span>`] : []),
      actor.label ?? nothing,
      filterBy(place, 'tenant', actor.tenant_id),
      filterBy(place, 'agent', actor.agent_id),
      html`<time datetime=${actor.created_at}>${time(actor.created_at)}</time>`,
      html`<${When} at=${actor.updated_at} />`,
    ],
  })
  return html`
    <div class="view-head"><h1>${title}</h1><${CsvButton} name=${title} read=${(/** @type {string | undefined} */ cursor) => readActors(place, cursor, maxPage)} /><span role="status">${marked.length > 0 && html`<a class="button" href=${compareHash(project, marked)}>${marked.length === 1 ? 'Compare with …' : 'Compare the two'}</a>`}</span></div>
    <nav class="filter kinds" aria-label="Kinds">${machines.map(({ machine: name }) => html`<a href=${listHash({ project, machine: name })} aria-current=${name === machine ? 'true' : undefined}>${titleOf(name)}</a>`)}</nav>
    <section class="panel" aria-label=${title}>
      <${Filters} key=${machine} place=${place} states=${machines.find((each) => each.machine === machine)?.states ?? []} />
      ${data.length === 0 ? html`<${Nothing} place=${place} />` : html`<${Table} label=${titleOf(machine || 'actor')} columns=${columns} rows=${data.map(rowOf)} />`}
      <${Pages} first=${after === '' ? null : listHash({ ...place, after: '' })} next=${next_cursor === null ? null : listHash({ ...place, after: next_cursor })} />
    </section>
  `
}

/** @param {ListPlace} place @param {'tenant' | 'agent'} field @param {string | null} id */
const filterBy = (place, field, id) =>
  id === null ? nothing : html`<a href=${listHash({ ...place, [field]: id, after: '' })} title=${id}>${nameOf(id)}</a>`

/** @param {{ place: ListPlace, states: readonly import('./fleet-page.js').FleetState[] }} props */
const Filters = ({ place, states }) => {
  const { view: _, project, machine, ...query } = place
  const fields = [
    {
      ...{ name: 'state', label: 'State' },
      choices: [['', 'any'], ...states.map(({ state, actors }) => [state, `${state} (${actors})`])],
    },
    ...[
      ['tenant', 'Tenant'],
      ['agent', 'Agent'],
      ['error', 'Error'],
      ['tool', 'Failed tool'],
    ].map(([name, label]) => ({ name, label })),
    { name: 'from', label: 'From', type: 'date' },
    { name: 'to', label: 'To', type: 'date' },
  ]
  const to = (/** @type {import('./route.js').Query} */ changes) => listHash({ ...place, ...changes })
  return html`<${QueryForm} place=${{ query }} label="Filters" button="Apply" fields=${fields} fresh=${['after']} to=${to}><a href=${listHash({ project, machine })}>Clear</a><//>`
}

/** @param {{ place: ListPlace }} props */
const Nothing = ({ place }) => {
  const { project: _, machine, view: __, ...filters } = place
  if (Object.values(filters).some(Boolean)) return html`<p class="empty">No results match these filters.</p>`
  const name = titleOf(machine).toLowerCase()
  if (machine !== 'session') return html`<${Empty} drawn="runs" title=${`No ${name} yet.`} />`
  const command = `curl -X POST ${location.origin}/v1/sessions \\\n  -H "Authorization: Bearer $SECRET_KEY" \\\n  -H "Content-Type: application/json" -d '{}'`
  return html`<${Empty} drawn="sessions" title="No sessions yet."><p>A session is a durable conversation. <a href=${routeHash({ view: 'playground', project: place.project })}>Start one in the playground</a>, or with a secret key of this project:</p><pre tabindex="0">${command}</pre><//>`
}
