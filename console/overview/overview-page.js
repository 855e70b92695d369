import { callApi } from '../api.js'
import { dollars, duration } from '../format.js'
import { html } from '../html.js'
import { livePage } from '../live-page.js'
import { nameOf as knownName } from '../names.js'
import { Choices } from '../parts/choices.js'
import { TablePanel } from '../parts/panel.js'
import { hashAt, listHash, routeHash } from '../route.js'
import { SeriesChart } from './series-chart.js'
import { count, Totals } from './totals.js'

/**
 * @typedef {import('./totals.js').Sums} Sums
 * @typedef {import('../answers.js').SeriesGroup} Group
 * @typedef {import('../answers.js').ToolHealth} Tool
 * @typedef {Answers['observation.series']} Series
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
    <div class="grid grid-cols-[repeat(auto-fit,minmax(min(420px,100%),1fr))] gap-16 mx-(--gutter) mb-16">
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
  /** @type {Columns<Group>} */
  const columns = {
    Name: ({ name }) => nameOf(place, by, name),
    Calls: ({ calls }) => count(calls),
    Errors: ({ errors }) => count(errors),
    Cost: ({ cost_usd }) => dollars(cost_usd),
    Tokens: ({ tokens }) => count(tokens),
  }
  const head = html`Calls <${Choices} label="Grouped by" values=${dimensions} now=${by} to=${(/** @type {string} */ name) => hashAt(place, { by: name })} />`
  return html`<${TablePanel} label="Groups" head=${head} columns=${columns} rows=${groups} />`
}

/** @param {{ project: string, tools: readonly Tool[] }} props */
const Tools = ({ project, tools }) => {
  /** @type {Columns<Tool>} */
  const columns = {
    Tool: ({ tool, failures }) =>
      failures === 0 ? tool : html`<a href=${listHash({ project, machine: '', tool })}>${tool}</a>`,
    Calls: ({ calls }) => count(calls),
    Failed: ({ failures }) => count(failures),
    'Failure rate': ({ calls, failures }) =>
      html`<span class="chip" data-tone=${failures === 0 ? 'calm' : 'bad'}>${Math.round((100 * failures) / calls)} %</span>`,
    p95: ({ p95_ms }) => duration(p95_ms),
  }
  return html`<${TablePanel} label="Tool health" table="Tools" head=${html`Tools <span class="muted">that the server ran</span>`} empty="No tool ran in this time." columns=${columns} rows=${tools} />`
}

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
