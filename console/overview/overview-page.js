import { callApi } from '../api.js'
import { dollars, duration } from '../format.js'
import { html } from '../html.js'
import { livePage } from '../live-page.js'
import { nameOf as knownName } from '../names.js'
import { Choices } from '../parts/choices.js'
import { Table } from '../parts/table.js'
import { hashAt, listHash, routeHash } from '../route.js'
import { SeriesChart } from './series-chart.js'
import { count, Totals } from './totals.js'

/**
 * @typedef {import('../parts/query-form.js').Place} Place
 * @typedef {import('./totals.js').Sums} Sums
 * @typedef {{ name: string | null, calls: number, errors: number, cost_usd: number, tokens: number, costs: readonly number[], counts: readonly number[] }} Group
 * @typedef {{ tool: string, calls: number, failures: number, p95_ms: number }} Tool
 * @typedef {{ from: string, to: string, bucket_ms: number, complete: boolean, data: readonly (Sums & { at: string })[], totals: Sums, totals_before: Sums, groups: readonly Group[], tools: readonly Tool[] }} Series
 */

const ranges = /** @type {const} */ ({ hour: 'Hour', day: 'Day', week: 'Week', month: '30 days' })
const dimensions = /** @type {const} */ ({ model: 'Model', tenant: 'Tenant', agent: 'Agent', operation: 'Operation' })
/** Colours of the groups that are drawn, the most expensive first. */
const colors = ['accent', 'calm', 'wait', 'bad', 'soft']

/** @param {Place['query']} query */
const chosen = ({ range = 'day', by = 'model' }) => ({ range, by })

/** Cost, calls, errors, durations and tokens over time, compared with the period before, and the health of tools. */
export const overviewPage = livePage({
  read: ({ project, query }) => callApi(project, 'observation.series', { query: chosen(query) }),
  show: ({ place, data }) => html`<${Overview} place=${place} series=${data} />`,
})

/** @param {{ place: Place, series: Series }} props */
const Overview = ({ place, series }) => html`
  <div class="view-head">
    <h1>Overview</h1>
    <${Choices} label="Range" values=${ranges} now=${chosen(place.query).range} to=${(/** @type {string} */ range) => hashAt(place, { range })} />
    <span class="muted" role="status">${series.complete ? '' : 'Reading older calls …'}</span>
  </div>
  <${Totals} now=${series.totals} before=${series.totals_before} />
  <${Charts} place=${place} series=${series} />
  <${Groups} place=${place} groups=${series.groups} />
  <${Tools} project=${place.project} tools=${series.tools} />
`

/** A click on a time leads to its requests. @param {{ place: Place, series: Series }} props */
const Charts = ({ place: { project, query }, series: { data, groups, bucket_ms } }) => {
  const by = chosen(query).by
  /** @param {number} time */
  const choose = (time) => {
    const [from = '', to = ''] = [time * 1000, time * 1000 + bucket_ms].map((ms) => new Date(ms).toISOString())
    location.hash = routeHash({ view: 'gateway', project, query: { from, to } })
  }
  const parts = { times: data.map(({ at }) => Date.parse(at) / 1000), choose }
  /** @param {string} label @param {string} color @param {keyof Sums} field @param {boolean} [fill] */
  const line = (label, color, field, fill = false) => ({ label, color, values: data.map((each) => each[field]), fill })
  const costs = groups.slice(0, colors.length).map(({ name, costs: values }, index) => ({
    ...{ label: name ?? 'none', values, color: colors[index] ?? 'soft', fill: index === 0 },
  }))
  const calls = [line('Calls', 'accent', 'calls', true), line('Errors', 'bad', 'errors')]
  const durations = [line('p50', 'calm', 'p50_ms'), line('p95', 'wait', 'p95_ms')]
  const tokens = [line('Input', 'accent', 'input_tokens', true), line('Output', 'calm', 'output_tokens')]
  return html`
    <div class="series-grid">
      <${SeriesChart} ...${parts} title=${`Cost by ${by}`} format=${dollars} lines=${costs} />
      <${SeriesChart} ...${parts} title="Calls and errors" format=${count} lines=${calls} />
      <${SeriesChart} ...${parts} title="Duration of requests" format=${duration} lines=${durations} />
      <${SeriesChart} ...${parts} title="Tokens" format=${count} lines=${tokens} />
    </div>
  `
}

/** @param {{ place: Place, groups: readonly Group[] }} props */
const Groups = ({ place, groups }) => {
  const { by } = chosen(place.query)
  const rows = groups.map(({ name, calls, errors, cost_usd, tokens }) => ({
    key: name ?? '',
    cells: [nameOf(place, by, name), count(calls), count(errors), dollars(cost_usd), count(tokens)],
  }))
  return html`
    <section class="panel" aria-label="Groups">
      <h2>Calls <${Choices} label="Grouped by" values=${dimensions} now=${by} to=${(/** @type {string} */ name) => hashAt(place, { by: name })} /></h2>
      <${Table} label="Groups" columns=${['Name', 'Calls', 'Errors', 'Cost', 'Tokens']} rows=${rows} />
    </section>
  `
}

/** @param {{ project: string, tools: readonly Tool[] }} props */
const Tools = ({ project, tools }) => html`
  <section class="panel" aria-label="Tool health">
    <h2>Tools <span class="muted">that the server ran</span></h2>
    ${
      tools.length === 0
        ? html`<p class="panel-part muted">No tool ran in this time.</p>`
        : html`<${Table} label="Tools" columns=${['Tool', 'Calls', 'Failed', 'Failure rate', 'p95']} rows=${tools.map(
            ({ tool, calls, failures, p95_ms }) => ({
              key: tool,
              cells: [
                failures === 0 ? tool : html`<a href=${listHash({ project, machine: '', tool })}>${tool}</a>`,
                count(calls),
                count(failures),
                html`<span class="chip" data-tone=${failures === 0 ? 'calm' : 'bad'}>${Math.round((100 * failures) / calls)} %</span>`,
                duration(p95_ms),
              ],
            }),
          )} />`
    }
  </section>
`

/** @param {Place} place @param {string} by @param {string | null} name */
const nameOf = ({ project }, by, name) => {
  if (name === null) return 'none'
  if (by === 'model')
    return html`<a href=${routeHash({ view: 'gateway', project, query: { model: name } })}>${name}</a>`
  if (by === 'tenant') return html`<a href=${listHash({ project, tenant: name })} title=${name}>${knownName(name)}</a>`
  return by === 'agent'
    ? html`<a href=${listHash({ project, agent: name })} title=${name}>${knownName(name)}</a>`
    : name
}
