import type { SeriesGroup as Group, SeriesTotals as Sums, ToolHealth as Tool } from '../answers.d.ts'
import { callApi } from '../api.ts'
import { dollars, duration } from '../format.ts'
import { html } from '../html.ts'
import { livePage } from '../live-page.ts'
import { nameOf as knownName } from '../names.ts'
import { Choices } from '../parts/choices.ts'
import { TablePanel } from '../parts/panel.ts'
import { hashAt, listHash, routeHash } from '../route.ts'
import { SeriesChart } from './series-chart.ts'
import { count, Totals } from './totals.ts'

type Series = Answers['observation.series']

const ranges = { hour: 'Hour', day: 'Day', week: 'Week', month: '30 days' } as const
const dimensions = { model: 'Model', tenant: 'Tenant', agent: 'Agent', operation: 'Operation' } as const
/** Colours of the groups that are drawn, the most expensive first. */
const colors = ['accent', 'calm', 'wait', 'bad', 'soft']

const chosen = ({ range = 'day', by = 'model' }: Place['query']) => ({ range, by })

/** Cost, calls, errors, durations and tokens over time, compared with the period before, and the health of tools. */
export const overviewPage = livePage({
  read: ({ project, query }) => callApi(project, 'observation.series', { query: chosen(query) }),
  show: ({ place, data }) => html`<${Overview} place=${place} series=${data} />`,
})

const Overview = ({ place, series }: { place: Place; series: Series }) => html`
  <div class="view-head">
    <h1>Overview</h1>
    <${Choices} label="Range" values=${ranges} now=${chosen(place.query).range} to=${(range: string) => hashAt(place, { range })} />
    <span class="muted" role="status">${series.complete ? '' : 'Reading older calls …'}</span>
  </div>
  <${Totals} now=${series.totals} before=${series.totals_before} />
  <${Charts} place=${place} series=${series} />
  <${Groups} place=${place} groups=${series.groups} />
  <${Tools} project=${place.project} tools=${series.tools} />
`

/** A click on a time leads to its requests. */
const Charts = ({ place: { project, query }, series: { data, groups, bucket_ms } }: Props & { series: Series }) => {
  const by = chosen(query).by
  const choose = (time: number) => {
    const [from = '', to = ''] = [time * 1000, time * 1000 + bucket_ms].map((ms) => new Date(ms).toISOString())
    location.hash = routeHash({ view: 'gateway', project, query: { from, to } })
  }
  const parts = { times: data.map(({ at }) => Date.parse(at) / 1000), choose }
  const line = (label: string, color: string, field: keyof Sums, fill: boolean = false) => ({
    label,
    color,
    values: data.map((each) => each[field]),
    fill,
  })
  const costs = groups.slice(0, colors.length).map(({ name, costs: values }, index) => ({
    ...{ label: name ?? 'none', values, color: colors[index] ?? 'soft', fill: index === 0 },
  }))
  const calls = [line('Calls', 'accent', 'calls', true), line('Errors', 'bad', 'errors')]
  const durations = [line('p50', 'calm', 'p50_ms'), line('p95', 'wait', 'p95_ms')]
  const tokens = [line('Input', 'accent', 'input_tokens', true), line('Output', 'calm', 'output_tokens')]
  return html`
    <div class="grid grid-cols-[repeat(auto-fit,minmax(min(420px,100%),1fr))] items-start gap-16 mx-(--gutter) mb-16">
      <${SeriesChart} ...${parts} title=${`Cost by ${by}`} format=${dollars} lines=${costs} />
      <${SeriesChart} ...${parts} title="Calls and errors" format=${count} lines=${calls} />
      <${SeriesChart} ...${parts} title="Duration of requests" format=${duration} lines=${durations} />
      <${SeriesChart} ...${parts} title="Tokens" format=${count} lines=${tokens} />
    </div>
  `
}

const Groups = ({ place, groups }: { place: Place; groups: readonly Group[] }) => {
  const { by } = chosen(place.query)
  const columns: Columns<Group> = {
    Name: ({ name }) => nameOf(place, by, name),
    Calls: ({ calls }) => count(calls),
    Errors: ({ errors }) => count(errors),
    Cost: ({ cost_usd }) => dollars(cost_usd),
    Tokens: ({ tokens }) => count(tokens),
  }
  const head = html`Calls <${Choices} label="Grouped by" values=${dimensions} now=${by} to=${(name: string) => hashAt(place, { by: name })} />`
  return html`<${TablePanel} label="Groups" head=${head} columns=${columns} rows=${groups} />`
}

const Tools = ({ project, tools }: { project: string; tools: readonly Tool[] }) => {
  const columns: Columns<Tool> = {
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

const nameOf = ({ project }: Place, by: string, name: string | null) => {
  if (name === null) return 'none'
  if (by === 'model')
    return html`<a href=${routeHash({ view: 'gateway', project, query: { model: name } })}>${name}</a>`
  if (by === 'tenant') return html`<a href=${listHash({ project, tenant: name })} title=${name}>${knownName(name)}</a>`
  return by === 'agent'
    ? html`<a href=${listHash({ project, agent: name })} title=${name}>${knownName(name)}</a>`
    : name
}
