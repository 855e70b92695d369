import type { RequestLogLine } from '#client/api/index.ts'
import { dollars, duration } from '../format.ts'
import { html } from '../html.ts'
import { nameOf } from '../names.ts'
import { nothing } from '../parts/cells.ts'
import { Choices } from '../parts/choices.ts'
import { TablePanel } from '../parts/panel.ts'
import { hashAt } from '../route.ts'
import { dimensions, healthOf } from './gateway-model.ts'

type Dimension = keyof typeof dimensions

type Group = Usage['data'][number] & Readonly<Record<string, unknown>>

export type Usage = Answers['usage.summary']

/** Texts by numbers of days. */
const ranges: Readonly<Record<string, string>> = { 1: 'a day', 7: '7 days', 30: '30 days' }
const names = Object.fromEntries(Object.keys(dimensions).map((name) => [name, name]))

/** The dimension in the URL. */
export const dimensionOf = ({ by = '' }: Query): Dimension => (isDimension(by) ? by : 'model')

const isDimension = (name: string): name is Dimension => Object.hasOwn(dimensions, name)

/** The number of days in the URL. */
export const daysOf = ({ days }: Query) => (ranges[days ?? ''] === undefined ? 1 : Number(days))

/** Cost, latency and failures of calls by model, tenant, key … */
export const Sums = ({ place, usage, recent }: { place: Place; usage: Usage; recent: readonly RequestLogLine[] }) => {
  const by = dimensionOf(place.query)
  const days = daysOf(place.query)
  const field = dimensions[by]
  const dearest = Math.max(0, ...usage.data.map(costOf))
  const sorted = usage.data.toSorted((a, b) => costOf(b) - costOf(a) || b.calls - a.calls).slice(0, 50)
  const rows = sorted.map((group) => {
    const value = group[field] ?? null
    return { ...group, value, health: healthOf(recent.filter((line) => (line[field] ?? null) === value)) }
  })
  type Row = (typeof rows)[number]
  const columns: Columns<Row> = {
    [by]: ({ value }) =>
      value === null
        ? html`<span class="muted">none</span>`
        : html`<span title=${value}>${nameOf(String(value))}</span>`,
    Cost: (group) => {
      const width = `${dearest === 0 ? 0 : (100 * costOf(group)) / dearest}%`
      return html`<div class="sum-bar"><div style=${{ width }}></div></div>${dollars(costOf(group))}${group.unpriced_calls > 0 && html` <span class="muted">+ ${group.unpriced_calls} without a price</span>`}`
    },
    Calls: ({ calls }) => calls.toLocaleString('en'),
    'Input tokens': ({ input_tokens }) => input_tokens.toLocaleString('en'),
    'Output tokens': ({ output_tokens }) => output_tokens.toLocaleString('en'),
    p50: ({ health: { p50 } }) => (p50 === null ? nothing : duration(p50)),
    p95: ({ health: { p95 } }) => (p95 === null ? nothing : duration(p95)),
    Failed: ({ health: { calls, failed } }) => (calls === 0 ? nothing : `${failed} of ${calls}`),
  }
  const head = html`Cost <span class="muted">${dollars(costOf(usage.totals))} for ${usage.totals.calls} ${usage.totals.calls === 1 ? 'call' : 'calls'} in ${ranges[days]}, sessions and runs included</span>
    <${Choices} label="Time" values=${ranges} now=${String(days)} to=${(value: string) => hashAt(place, { days: value })} />
    <${Choices} label="By" values=${names} now=${by} to=${(name: string) => hashAt(place, { by: name })} />`
  return html`<${TablePanel} label="Cost" table=${`Cost by ${by}`} head=${head} empty="Nothing was used in this time." columns=${columns} rows=${rows}>
    <p class="panel-part muted">Latency and failures are based on the newest ${recent.length} requests to the gateway.</p>
  <//>`
}

const costOf = ({ provider_cost_usd }: Pick<Group, 'provider_cost_usd'>) => Number(provider_cost_usd)
