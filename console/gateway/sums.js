import { dollars, duration } from '../format.js'
import { html } from '../html.js'
import { nameOf } from '../names.js'
import { Choices } from '../parts/choices.js'
import { nothing, Table } from '../parts/table.js'
import { hashAt } from '../route.js'
import { dimensions, healthOf } from './gateway-model.js'

/**
 * @typedef {import('../parts/query-form.js').Place} Place
 * @typedef {keyof typeof dimensions} Dimension
 * @typedef {Readonly<Record<string, unknown>> & { calls: number, total_tokens: number, input_tokens: number, output_tokens: number, provider_cost_usd: string, unpriced_calls: number }} Group
 * @typedef {{ data: readonly Group[], totals: Group }} Usage
 */

/** Texts by numbers of days. @type {Readonly<Record<string, string>>} */
const ranges = { 1: 'a day', 7: '7 days', 30: '30 days' }
const names = Object.fromEntries(Object.keys(dimensions).map((name) => [name, name]))

/** The dimension in the URL. @param {import('../route.js').Query} query @returns {Dimension} */
export const dimensionOf = ({ by = 'model' }) => {
  const known = /** @type {readonly Dimension[]} */ (Object.keys(dimensions))
  return known.find((name) => name === by) ?? 'model'
}

/** The number of days in the URL. @param {import('../route.js').Query} query */
export const daysOf = ({ days }) => (ranges[days ?? ''] === undefined ? 1 : Number(days))

/** Cost, latency and failures of calls by model, tenant, key … @param {{ place: Place, usage: Usage, recent: readonly import('./gateway-model.js').Line[] }} props */
export const Sums = ({ place, usage, recent }) => {
  const by = dimensionOf(place.query)
  const days = daysOf(place.query)
  const dearest = Math.max(0, ...usage.data.map(costOf))
  const sorted = usage.data.toSorted((a, b) => costOf(b) - costOf(a) || b.calls - a.calls).slice(0, 50)
  return html`
    <section class="panel" aria-label="Cost">
      <h2>Cost <span class="muted">${dollars(costOf(usage.totals))} for ${usage.totals.calls} ${usage.totals.calls === 1 ? 'call' : 'calls'} in ${ranges[days]}, sessions and runs included</span>
        <${Choices} label="Time" values=${ranges} now=${String(days)} to=${(/** @type {string} */ value) => hashAt(place, { days: value })} />
        <${Choices} label="By" values=${names} now=${by} to=${(/** @type {string} */ name) => hashAt(place, { by: name })} />
      </h2>
      ${
        sorted.length === 0
          ? html`<p class="panel-part muted">Nothing was used in this time.</p>`
          : html`<${Table} label=${`Cost by ${by}`} columns=${[by, 'Cost', 'Calls', 'Input tokens', 'Output tokens', 'p50', 'p95', 'Failed']} rows=${sorted.map(
              (group) => rowOf({ group, by, dearest, recent }),
            )} />`
      }
      <p class="panel-part muted">Latency and failures are based on the newest ${recent.length} requests to the gateway.</p>
    </section>
  `
}

/** @param {Group} group */
const costOf = ({ provider_cost_usd }) => Number(provider_cost_usd)

/** @param {{ group: Group, by: Dimension, dearest: number, recent: readonly import('./gateway-model.js').Line[] }} parts */
const rowOf = ({ group, by, dearest, recent }) => {
  const field = dimensions[by]
  const value = group[field] ?? null
  const { calls, failed, p50, p95 } = healthOf(recent.filter((line) => (line[field] ?? null) === value))
  const cost = costOf(group)
  const width = `${dearest === 0 ? 0 : (100 * cost) / dearest}%`
  return {
    key: String(value),
    cells: [
      value === null
        ? html`<span class="muted">none</span>`
        : html`<span title=${value}>${nameOf(String(value))}</span>`,
      html`<div class="sum-bar"><div style=${{ width }}></div></div>${dollars(cost)}${group.unpriced_calls > 0 && html` <span class="muted">+ ${group.unpriced_calls} without a price</span>`}`,
      group.calls.toLocaleString('en'),
      group.input_tokens.toLocaleString('en'),
      group.output_tokens.toLocaleString('en'),
      p50 === null ? nothing : duration(p50),
      p95 === null ? nothing : duration(p95),
      calls === 0 ? nothing : `${failed} of ${calls}`,
    ],
  }
}
