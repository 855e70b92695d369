import type { FleetMachine, FleetState } from './answers.d.ts'
import { callApi, file } from './api.ts'
import { FleetChart } from './fleet-chart.ts'
import { duration, machineName } from './format.ts'
import { html } from './html.ts'
import { livePage } from './live-page.ts'
import { nothing, StateChip } from './parts/cells.ts'
import { Table } from './parts/table.ts'
import { listHash } from './route.ts'

type Shown = Readonly<{ machine: FleetMachine; layout: Layout | null }>

const layouts: Map<string, Promise<Layout | null>> = new Map()

const layoutOf = (machine: string) => {
  const known = layouts.get(machine) ?? file(`/charts/${encodeURIComponent(machine)}.layout.json`).catch(() => null)
  layouts.set(machine, known)
  return known
}

/** Every machine of the project with its actors by state. */
export const fleetPage = livePage({
  read: async ({ project }): Promise<readonly Shown[]> => {
    const { data } = await callApi(project, 'observation.fleet')
    return Promise.all(data.map(async (machine) => ({ machine, layout: await layoutOf(machine.machine) })))
  },
  show: ({ place: { project }, data }) => html`<${Fleet} project=${project} machines=${data} />`,
})

/** @param more whether there are more than were counted */
const counted = (count: number, more: boolean) => `${count}${more ? '+' : ''}`

const isAtLeast = ({ states }: FleetMachine) => states.some(({ actors_are }) => actors_are === 'at_least')

const actorsOf = ({ states }: FleetMachine) => states.reduce((sum, { actors }) => sum + actors, 0)

const Fleet = ({ project, machines }: { project: string; machines: readonly Shown[] }) => {
  const sorted = machines.toSorted((a, b) => actorsOf(b.machine) - actorsOf(a.machine))
  return html`
    <div class="view-head">
      <h1>Fleet</h1>
      <span class="muted">Actors by state, with the time that the newest 100 have spent in it. Tokens are steps of the last minute.</span>
    </div>
    ${sorted.map((shown) => html`<${Machine} key=${shown.machine.machine} project=${project} ...${shown} />`)}
  `
}

const Machine = ({ project, machine, layout }: { project: string } & Shown) => {
  const total = actorsOf(machine)
  const name = machineName(machine.machine)
  const columns: Columns<FleetState> = {
    State: ({ state }) =>
      html`<a href=${listHash({ project, machine: machine.machine, state })}><${StateChip} state=${state} /></a>`,
    Actors: ({ actors, actors_are }) => counted(actors, actors_are === 'at_least'),
    p50: ({ p50_ms }) => (p50_ms === null ? nothing : duration(p50_ms)),
    p95: ({ p95_ms }) => (p95_ms === null ? nothing : duration(p95_ms)),
  }
  return html`
    <section class="panel" aria-label=${name}>
      <h2>
        <a class="inline-block first-letter:uppercase" href=${listHash({ project, machine: machine.machine })}>${name}</a>
        <span class="muted">${counted(total, isAtLeast(machine))} ${total === 1 ? 'actor' : 'actors'}</span>
        ${machine.failures_24h > 0 && html`<span class="chip" data-tone="bad">${machine.failures_24h} failed in 24 hours</span>`}
      </h2>
      ${
        total > 0 &&
        html`
        <div class="grid grid-cols-[minmax(0,2fr)_minmax(0,1fr)] max-phone:grid-cols-1 border-t border-line [&>.data]:self-start">
          ${layout && html`<${FleetChart} layout=${layout} machine=${machine} project=${project} />`}
          <${Table} label=${`States of ${name}`} columns=${columns} rows=${machine.states.filter(({ actors }) => actors > 0)} />
        </div>`
      }
    </section>
  `
}
