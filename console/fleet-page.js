import { callApi, file } from './api.js'
import { FleetChart } from './fleet-chart.js'
import { duration, machineName, toneOf } from './format.js'
import { html } from './html.js'
import { livePage } from './live-page.js'
import { nothing, Table } from './parts/table.js'
import { listHash } from './route.js'

/**
 * @typedef {{ from: string, to: string, count: number }} EdgeCount steps from one state to another
 * @typedef {{ state: string, final: boolean, actors: number, actors_are: 'exact' | 'at_least', p50_ms: number | null, p95_ms: number | null }} FleetState
 * @typedef {{ machine: string, version: number, failures_24h: number, failing_edges: readonly EdgeCount[], flows: readonly EdgeCount[], states: readonly FleetState[] }} FleetMachine
 * @typedef {{ machine: FleetMachine, layout: import('./chart-model.js').Layout | null }} Shown
 */

/** @type {Map<string, Promise<import('./chart-model.js').Layout | null>>} */
const layouts = new Map()

/** @param {string} machine */
const layoutOf = (machine) => {
  const known = layouts.get(machine) ?? file(`/charts/${encodeURIComponent(machine)}.layout.json`).catch(() => null)
  layouts.set(machine, known)
  return known
}

/** Every machine of the project with its actors by state. */
export const fleetPage = livePage({
  /** @returns {Promise<readonly Shown[]>} */
  read: async ({ project }) => {
    /** @type {{ data: readonly FleetMachine[] }} */
    const { data } = await callApi(project, 'observation.fleet')
    return Promise.all(data.map(async (machine) => ({ machine, layout: await layoutOf(machine.machine) })))
  },
  show: ({ place: { project }, data }) => html`<${Fleet} project=${project} machines=${data} />`,
})

/** @param {number} count @param {boolean} more whether there are more than were counted */
const counted = (count, more) => `${count}${more ? '+' : ''}`

/** @param {FleetMachine} machine */
const isAtLeast = ({ states }) => states.some(({ actors_are }) => actors_are === 'at_least')

/** @param {FleetMachine} machine */
const actorsOf = ({ states }) => states.reduce((sum, { actors }) => sum + actors, 0)

/** @param {{ project: string, machines: readonly Shown[] }} props */
const Fleet = ({ project, machines }) => {
  const sorted = machines.toSorted((a, b) => actorsOf(b.machine) - actorsOf(a.machine))
  return html`
    <div class="view-head">
      <h1>Fleet</h1>
      <span class="muted">Actors by state, with the time that the newest 100 have spent in it. Tokens are steps of the last minute.</span>
    </div>
    ${sorted.map((shown) => html`<${Machine} key=${shown.machine.machine} project=${project} ...${shown} />`)}
  `
}

/** @param {{ project: string } & Shown} props */
const Machine = ({ project, machine, layout }) => {
  const total = actorsOf(machine)
  const name = machineName(machine.machine)
  return html`
    <section class="panel" aria-label=${name}>
      <h2>
        <a class="machine-name" href=${listHash({ project, machine: machine.machine })}>${name}</a>
        <span class="muted">${counted(total, isAtLeast(machine))} ${total === 1 ? 'actor' : 'actors'}</span>
        ${machine.failures_24h > 0 && html`<span class="chip" data-tone="bad">${machine.failures_24h} failed in 24 hours</span>`}
      </h2>
      ${
        total > 0 &&
        html`
        <div class="fleet-body">
          ${layout && html`<${FleetChart} layout=${layout} machine=${machine} project=${project} />`}
          <${Table} label=${`States of ${name}`} columns=${['State', 'Actors', 'p50', 'p95']} rows=${machine.states
            .filter(({ actors }) => actors > 0)
            .map((state) => ({
              key: state.state,
              cells: [
                html`<a href=${listHash({ project, machine: machine.machine, state: state.state })}><span class="chip" data-tone=${toneOf(state.state)}>${state.state}</span></a>`,
                counted(state.actors, state.actors_are === 'at_least'),
                state.p50_ms === null ? nothing : duration(state.p50_ms),
                state.p95_ms === null ? nothing : duration(state.p95_ms),
              ],
            }))} />
        </div>`
      }
    </section>
  `
}
