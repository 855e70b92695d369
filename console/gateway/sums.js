import { dollars, duration } from '../format.js'
import { html } from '../html.js'
import { nameOf } from '../names.js'
import { nothing } from '../parts/cells.js'
import { Choices } from '../parts/choices.js'
import { TablePanel } from '../parts/panel.js'
import { hashAt } from '../route.js'
import { dimensions, healthOf } from './gateway-model.js'

/**
 * @typedef {keyof typeof dimensions} Dimension
 * @typedef {Usage['data'][number] & Readonly<Record<string, unknown>>} Group
 * @typedef {Answers['usage.summary']} Usage
 */

/** Texts by numbers of days. @type {Readonly<Record<string, string>>} */
const ranges = { 1: 'a day', 7: '7 days', 30: '30 days' }
const names = Object.fromEntries(Object.keys(dimensions).map((name) => [name, name]))

/** The dimension in the URL. @param {Query} query @returns {Dimension} */
export const dimensionOf = ({ by = 'model' }) => {
  const known = /** @type {readonly Dimension[]} */ (Object.keys(dimensions))
  return known.find((name) => name === by) ?? 'model'
}

/** The number of days in the URL. @param {Query} query */
export const daysOf = ({ days }) => (ranges[days ?? ''] === undefined ? 1 : Number(days))

/** Cost, latency and failures of calls by model, tenant, key … @param {{ place: Place, usage: Usage, recent: readonly import('./gateway-model.js').Line[] }} props */
export const Sums = ({ place, usage, recent }) => {
  const by = dimensionOf(place.query)
  const days = daysOf(place.query)
  const field = dimensions[by]
  const dearest = Math.max(0, ...usage.data.map(costOf))
  const sorted = usage.data.toSorted((a, b) => costOf(b) - costOf(a) || b.calls - a.calls).slice(0, 50)
  const rows = sorted.map((group) => {
    const value = group[field] ?? null
    return { ...group, value, health: healthOf(recent.filter((line) => (line[field] ?? null) === value)) }
  })
  /** @typedef {(typeof rows)[number]} Row */
  /** @type {Columns<Row>} */
  const columns = {
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
    <${Choices} label="Time" values=${ranges} now=${String(days)} to=${(/** @type {string} */ value) => hashAt(place, { days: value })} />
    <${Choices} label="By" values=${names} now=${by} to=${(/** @type {string} */ name) => hashAt(place, { by: name })} />`
  return html`<${TablePanel} label="Cost" table=${`Cost by ${by}`} head=${head} empty="Nothing was used in this time." columns=${columns} rows=${rows}>
    <p class="panel-part muted">Latency and failures are based on the newest ${recent.length} requests to the gateway.</p>
  <//>`
}

/** @param {Pick<Group, 'provider_cost_usd'>} group */
const costOf = ({ provider_cost_usd }) => Number(provider_cost_usd)
