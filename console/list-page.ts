import type { FleetMachine, FleetState } from './answers.d.ts'
import { callApi } from './api.ts'
import { machineName } from './format.ts'
import { html, typed, useState } from './html.ts'
import { ActorLink } from './linked-ids.ts'
import { livePage } from './live-page.ts'
import { titleOf } from './names.ts'
import { Empty } from './parts/empty.ts'
import { ListView } from './parts/list-view.ts'
import type { QueryField } from './parts/query-form.ts'
import { columnsOf } from './resources/resource-columns.ts'
import { fieldOf, filePage, type Listed, readListing, readRows } from './resources/resource-page.ts'
import { resourceOf } from './resources/row-panel.ts'
import type { Row } from './resources/types.ts'
import { compareHash, listHash, routeHash } from './route.ts'
import { hasTalk } from './talk-panel.ts'

type Place = Readonly<{ project: string; machine: string; query: Query }>

type Shown = Readonly<{ listed: Listed; machines: readonly FleetMachine[] }>

const resource = resourceOf('actors')

/** Actors of one kind, filtered by state, tenant, agent, error and time; all that is chosen is in the URL. */
export const listPage = livePage({
  read: async (place: Place): Promise<Shown> => {
    const [listed, { data }] = await Promise.all([
      readListing(place, resource, givenOf(place)),
      callApi(place.project, 'observation.fleet'),
    ])
    return { listed, machines: inOrder(data) }
  },
  show: ({ place, data }) => html`<${List} place=${place} ...${data} />`,
})

const givenOf = ({ machine }: Place) => ({ query: { machine } })

/** Kinds to list first. */
const known = ['session', 'run', 'action', 'delivery']

const inOrder = (machines: readonly FleetMachine[]) => [
  ...known.flatMap((name) => machines.filter(({ machine }) => machine === name)),
  ...machines.filter(({ machine }) => !known.includes(machine)).toSorted((a, b) => a.machine.localeCompare(b.machine)),
]

const kindOf = (machine: string) => {
  if (machine === '') return 'All kinds'
  const name = machineName(machine)
  const plural = `${name.replace(/y$/, 'ie').replace(/ch$/, 'che')}s`
  return plural.charAt(0).toUpperCase() + plural.slice(1)
}

const List = ({ place, listed: { rows, next_cursor: next }, machines }: { place: Place } & Shown) => {
  const { project, machine, query } = place
  const to = (changes: Query) => listHash({ project, machine, ...query, ...changes })
  // two of them can be compared
  const [marked, setMarked] = useState<readonly string[]>([])
  const mark = (id: string) =>
    setMarked(marked.includes(id) ? marked.filter((each) => each !== id) : [...marked, id].slice(-2))
  const [name, ...others] = columnsOf({ project, resource, rows, params: {}, filterBy: to, hrefOf: () => '', done })
  const columns = [
    {
      ...{ name: 'name', title: 'Name', value: name?.value },
      cell: ({ id = '', label, machine: own = '' }: Row) =>
        html`${hasTalk({ machine: own }) && html`<input type="checkbox" aria-label=${`Compare ${titleOf(id, label)}`} title=${id} checked=${marked.includes(id)} onChange=${() => mark(id)} /> `}<${ActorLink} project=${project} id=${id} label=${label} />`,
    },
    ...others.map((column) =>
      column.name === 'error' && (query.error || query.tool) ? { ...column, off: false } : column,
    ),
  ]
  return html`
    <div class="view-head">
      <h1>${kindOf(machine)}</h1>
      <label class="flex items-center gap-6 ml-auto text-soft text-12">Kind<select onChange=${typed((chosen) => location.assign(listHash({ project, machine: chosen })))}>
        ${machine === '' && html`<option value="" selected>All kinds</option>`}${machines.map((each) => html`<option value=${each.machine} selected=${each.machine === machine}>${kindOf(each.machine)}</option>`)}
      </select></label>
    </div>
    <section class="panel" aria-label=${kindOf(machine)}>
      <${ListView} key=${machine} place=${{ project, query, page: `list/${machine || 'all'}`, to }} title=${kindOf(machine)} columns=${columns} rows=${rows} fields=${fieldsOf(machines.find((each) => each.machine === machine)?.states ?? [])}
        next=${next} read=${(cursor: string | undefined) => readRows(place, resource, cursor, givenOf(place), filePage)} empty=${html`<${Nothing} place=${place} />`}>
        <span role="status">${marked.length > 0 && html`<a class="button" href=${compareHash(project, marked)}>${marked.length === 1 ? 'Compare with …' : 'Compare the two'}</a>`}</span>
      <//>
    </section>
  `
}

const done = () => {}

const fieldsOf = (states: readonly FleetState[]): readonly QueryField[] => [
  {
    ...{ name: 'state', label: 'State' },
    choices: [['', 'any'], ...states.map(({ state, actors }) => [state, `${state} (${actors})`] as const)],
  },
  ...resource.filters
    .filter(({ name }) => name !== 'state')
    .map((filter) => ({ ...fieldOf(filter), ...(/^(from|to)$/.test(filter.name) && { type: 'date' }) })),
]

const Nothing = ({ place: { project, machine, query } }: { place: Place }) => {
  if (Object.values(query).some(Boolean)) return html`<p class="empty">No results match these filters.</p>`
  const name = kindOf(machine).toLowerCase()
  if (machine !== 'session')
    return html`<${Empty} drawn="runs" title=${`No ${name} yet.`}>${machine === 'run' && html`<p>A run is an agent's work in the background. <a href=${routeHash({ view: 'resources', project, query: { kind: 'agents' } })}>Start one from an agent</a>.</p>`}<//>`
  const command = `curl -X POST ${location.origin}/v1/sessions \\\n  -H "Authorization: Bearer $SECRET_KEY" \\\n  -H "Content-Type: application/json" -d '{}'`
  return html`<${Empty} drawn="sessions" title="No sessions yet."><p>A session is a durable conversation. <a href=${routeHash({ view: 'playground', project })}>Start one in the playground</a>, or with a secret key of this project:</p><pre tabindex="0">${command}</pre><//>`
}
