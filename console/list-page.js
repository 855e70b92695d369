import { callApi } from './api.js'
import { machineName } from './format.js'
import { html, useState } from './html.js'
import { ActorLink } from './linked-ids.js'
import { livePage } from './live-page.js'
import { nameOf, titleOf } from './names.js'
import { nothing, StateChip } from './parts/cells.js'
import { Empty } from './parts/empty.js'
import { ListView } from './parts/list-view.js'
import { compareHash, listHash, routeHash } from './route.js'
import { hasTalk } from './talk-panel.js'

/**
 * @typedef {{ project: string, machine: string, query: Query }} Place
 * @typedef {import('./parts/list-view.js').Column} Column
 * @typedef {{ actors: Answers['observation.actors'], machines: readonly import('./fleet-page.js').FleetMachine[] }} Listed
 */

const pageSize = 50
/** Of a file. */
const maxPage = 100

/** Actors of one kind, filtered by state, tenant, agent, error and time; all that is chosen is in the URL. */
export const listPage = livePage({
  /** @param {Place} place @returns {Promise<Listed>} */
  read: async (place) => {
    const [actors, { data }] = await Promise.all([
      readActors(place, place.query.after),
      callApi(place.project, 'observation.fleet'),
    ])
    return { actors, machines: inOrder(data) }
  },
  show: ({ place, data }) => html`<${List} place=${place} ...${data} />`,
})

/** @param {Place} place @param {string | undefined} cursor */
const readActors = ({ project, machine, query }, cursor, limit = pageSize) => {
  const { state, tenant, agent, error, tool, from, to } = query
  const filters = { machine: machine || undefined, state, tenant_id: tenant, agent_id: agent, error, tool, from, to }
  return callApi(project, 'observation.actors', { query: { ...filters, limit, cursor } })
}

/** Kinds to list first. */
const known = ['session', 'run', 'action', 'delivery']

/** @param {readonly import('./fleet-page.js').FleetMachine[]} machines */
const inOrder = (machines) => [
  ...known.flatMap((name) => machines.filter(({ machine }) => machine === name)),
  ...machines.filter(({ machine }) => !known.includes(machine)).toSorted((a, b) => a.machine.localeCompare(b.machine)),
]

/** @param {string} machine */
const kindOf = (machine) => {
  if (machine === '') return 'All kinds'
  const name = machineName(machine)
  const plural = `${name.replace(/y$/, 'ie').replace(/ch$/, 'che')}s`
  return plural.charAt(0).toUpperCase() + plural.slice(1)
}

/** @param {Place} place @param {{ marked: readonly string[], mark: (id: string) => void }} comparing @returns {readonly Column[]} */
const columnsOf = (place, { marked, mark }) => {
  const { query } = place
  const failed = Boolean(query.error || query.tool)
  return [
    {
      ...{ name: 'name', title: 'Name', value: ({ label, id }) => label ?? id },
      cell: ({ id, label, machine }) =>
        html`${hasTalk({ machine }) && html`<input type="checkbox" aria-label=${`Compare ${titleOf(id, label)}`} title=${id} checked=${marked.includes(id)} onChange=${() => mark(id)} /> `}<${ActorLink} project=${place.project} id=${id} label=${label} />`,
    },
    {
      ...{ name: 'state', title: 'State', field: 'state' },
      cell: ({ state, failures }) =>
        html`<${StateChip} state=${state} /> ${failures > 0 && html`<span class="chip" data-tone="bad" title="Failures in the last 24 hours">${failures} failed</span>`}`,
    },
    {
      ...{ name: 'error', title: 'Error', field: 'error', ...(failed ? {} : { off: true }) },
      cell: ({ error }) => (error === null ? nothing : html`<span class="chip" data-tone="bad">${error}</span>`),
    },
    {
      ...{ name: 'tenant', title: 'Tenant', field: 'tenant_id' },
      cell: ({ tenant_id }) => filterBy(place, 'tenant', tenant_id),
    },
    {
      ...{ name: 'agent', title: 'Agent', field: 'agent_id' },
      cell: ({ agent_id }) => filterBy(place, 'agent', agent_id),
    },
    { name: 'user', title: 'User', field: 'external_user_id', off: true },
    { name: 'id', title: 'Id', off: true, cell: ({ id }) => html`<code>${id}</code>` },
    { name: 'failures', title: 'Failures', field: 'failures', off: true },
    { name: 'created', title: 'Created', field: 'created_at' },
    { name: 'updated', title: 'Last step', field: 'updated_at' },
  ]
}

/** @param {{ place: Place } & Listed} props */
const List = ({ place, actors: { data, next_cursor }, machines }) => {
  const { project, machine, query } = place
  const to = (/** @type {Query} */ changes) => listHash({ project, machine, ...query, ...changes })
  // two of them can be compared
  const [marked, setMarked] = useState(/** @type {readonly string[]} */ ([]))
  /** @param {string} id */
  const mark = (id) => setMarked(marked.includes(id) ? marked.filter((each) => each !== id) : [...marked, id].slice(-2))
  const states = machines.find((each) => each.machine === machine)?.states ?? []
  return html`
    <div class="view-head">
      <h1>${kindOf(machine)}</h1>
      <label class="flex items-center gap-6 ml-auto text-soft text-12">Kind<select onChange=${(/** @type {Event} */ { currentTarget }) => currentTarget instanceof HTMLSelectElement && location.assign(listHash({ project, machine: currentTarget.value }))}>
        ${machine === '' && html`<option value="" selected>All kinds</option>`}${machines.map(({ machine: name }) => html`<option value=${name} selected=${name === machine}>${kindOf(name)}</option>`)}
      </select></label>
    </div>
    <section class="panel" aria-label=${kindOf(machine)}>
      <${ListView} key=${machine} place=${{ project, query, page: `list/${machine || 'all'}`, to }} title=${kindOf(machine)} columns=${columnsOf(place, { marked, mark })} rows=${data}
        fields=${fieldsOf(states)} next=${next_cursor} read=${(/** @type {string | undefined} */ cursor) => readActors(place, cursor, maxPage)} empty=${html`<${Nothing} place=${place} />`}>
        <span role="status">${marked.length > 0 && html`<a class="button" href=${compareHash(project, marked)}>${marked.length === 1 ? 'Compare with …' : 'Compare the two'}</a>`}</span>
      <//>
    </section>
  `
}

/** @param {Place} place @param {'tenant' | 'agent'} field @param {string | null} id */
const filterBy = ({ project, machine, query }, field, id) =>
  id === null
    ? nothing
    : html`<a href=${listHash({ project, machine, ...query, [field]: id, after: '' })} title=${id}>${nameOf(id)}</a>`

/** @param {readonly import('./fleet-page.js').FleetState[]} states @returns {readonly import('./parts/query-form.js').QueryField[]} */
const fieldsOf = (states) => [
  {
    ...{ name: 'state', label: 'State' },
    choices: [
      ['', 'any'],
      ...states.map(({ state, actors }) => /** @type {const} */ ([state, `${state} (${actors})`])),
    ],
  },
  ...[
    ['tenant', 'Tenant'],
    ['agent', 'Agent'],
    ['error', 'Error'],
    ['tool', 'Failed tool'],
  ].map(([name = '', label = '']) => ({ name, label })),
  { name: 'from', label: 'From', type: 'date' },
  { name: 'to', label: 'To', type: 'date' },
]

/** @param {{ place: Place }} props */
const Nothing = ({ place: { project, machine, query } }) => {
  if (Object.values(query).some(Boolean)) return html`<p class="empty">No results match these filters.</p>`
  const name = kindOf(machine).toLowerCase()
  if (machine !== 'session')
    return html`<${Empty} drawn="runs" title=${`No ${name} yet.`}>${machine === 'run' && html`<p>A run is an agent's work in the background. <a href=${routeHash({ view: 'resources', project, query: { kind: 'agents' } })}>Start one from an agent</a>.</p>`}<//>`
  const command = `curl -X POST ${location.origin}/v1/sessions \\\n  -H "Authorization: Bearer $SECRET_KEY" \\\n  -H "Content-Type: application/json" -d '{}'`
  return html`<${Empty} drawn="sessions" title="No sessions yet."><p>A session is a durable conversation. <a href=${routeHash({ view: 'playground', project })}>Start one in the playground</a>, or with a secret key of this project:</p><pre tabindex="0">${command}</pre><//>`
}
