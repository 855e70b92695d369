import { callApi } from '../api.js'
import { dollars, duration } from '../format.js'
import { html } from '../html.js'
import { useRead } from '../parts/use-read.js'

/** @typedef {import('../answers.js').SeriesTotals} Sums */

/** @type {readonly (readonly [name: string, value: (sums: Sums) => number | null, format: (value: number) => string])[]} */
const tiles = [
  ['Cost', ({ cost_usd }) => cost_usd, (value) => dollars(value)],
  ['Calls', ({ calls }) => calls, (value) => count(value)],
  ['Errors', ({ errors }) => errors, (value) => count(value)],
  ['p50', ({ p50_ms }) => p50_ms, (value) => duration(value)],
  ['p95', ({ p95_ms }) => p95_ms, (value) => duration(value)],
  ['Tokens', ({ input_tokens, output_tokens }) => input_tokens + output_tokens, (value) => count(value)],
]

/** The totals, each with its change from the period before. @param {{ now: Sums | null, before: Sums | null }} props `null` until they are read */
export const Totals = ({ now, before }) => html`
  <dl class="grid grid-cols-[repeat(auto-fit,minmax(min(140px,26vw),1fr))] gap-12 mx-(--gutter) mb-16" aria-label="Totals">
    ${tiles.map(([name, read, format]) => {
      const value = now && read(now)
      return html`<div key=${name} class="card px-(--inset) py-12" data-tone=${name === 'Errors' && value ? 'bad' : undefined}><dt class="text-12 text-soft">${name}</dt><dd class="text-[length:clamp(17px,4.4vw,23px)] font-[650] tracking-[-0.02em] tabular-nums">${value === null ? '–' : format(value)}</dd>${changeOf(value ?? 0, (before && read(before)) ?? 0)}</div>`
    })}
  </dl>
`

/** The totals of the last day. @param {{ project: string }} props */
export const DayTotals = ({ project }) => {
  const { data } = useRead(project, (signal) =>
    callApi(project, 'observation.series', { query: { range: 'day', by: 'model' }, signal }),
  )
  return html`<${Totals} now=${data && data.totals} before=${data && data.totals_before} />`
}

/** @param {number} now @param {number} before */
const changeOf = (now, before) => {
  if (before === 0) return null
  const percent = Math.round((100 * (now - before)) / before)
  const change =
    percent >= 1000 ? `×${count(Math.round(now / before))}` : `${percent > 0 ? '+' : '−'}${Math.abs(percent)} %`
  return html`<dd class="muted text-12">${percent === 0 ? 'as before' : `${change} from before`}</dd>`
}

/** @param {number} value */
export const count = (value) =>
  value.toLocaleString('en', { notation: value >= 100_000 ? 'compact' : 'standard', maximumFractionDigits: 1 })
