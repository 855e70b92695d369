import type { SeriesTotals as Sums } from '../answers.d.ts'
import { callApi } from '../api.ts'
import { dollars, duration } from '../format.ts'
import { html } from '../html.ts'
import { useRead } from '../parts/use-read.ts'

const tiles: readonly (readonly [
  name: string,
  value: (sums: Sums) => number | null,
  format: (value: number) => string,
])[] = [
  ['Cost', ({ cost_usd }) => cost_usd, (value) => dollars(value)],
  ['Calls', ({ calls }) => calls, (value) => count(value)],
  ['Errors', ({ errors }) => errors, (value) => count(value)],
  ['Median time', ({ p50_ms }) => p50_ms, (value) => duration(value)],
  ['95 % within', ({ p95_ms }) => p95_ms, (value) => duration(value)],
  ['Tokens', ({ input_tokens, output_tokens }) => input_tokens + output_tokens, (value) => count(value)],
]

/** The totals, each with its change from the period before. @param props `null` until they are read */
export const Totals = ({ now, before }: { now: Sums | null; before: Sums | null }) => html`
  <dl class="grid grid-cols-[repeat(auto-fit,minmax(min(140px,26vw),1fr))] gap-12 mx-(--gutter) mb-16" aria-label="Totals">
    ${tiles.map(([name, read, format]) => {
      const value = now && read(now)
      return html`<div key=${name} class="card px-(--inset) py-12" data-tone=${name === 'Errors' && value ? 'bad' : undefined}><dt class="text-12 text-soft">${name}</dt><dd class="text-[length:clamp(17px,4.4vw,23px)] font-[650] tracking-[-0.02em] tabular-nums">${value === null ? '–' : format(value)}</dd>${changeOf(value ?? 0, (before && read(before)) ?? 0)}</div>`
    })}
  </dl>
`

/** The totals of the last day. */
export const DayTotals = ({ project }: { project: string }) => {
  const { data } = useRead(project, (signal) =>
    callApi(project, 'observation.series', { query: { range: 'day', by: 'model' }, signal }),
  )
  return html`<${Totals} now=${data && data.totals} before=${data && data.totals_before} />`
}

const changeOf = (now: number, before: number) => {
  if (before === 0) return null
  const percent = Math.round((100 * (now - before)) / before)
  const change =
    percent >= 1000 ? `×${count(Math.round(now / before))}` : `${percent > 0 ? '+' : '−'}${Math.abs(percent)} %`
  return html`<dd class="muted text-12">${percent === 0 ? 'as before' : `${change} vs. before`}</dd>`
}

export const count = (value: number) =>
  value.toLocaleString('en', { notation: value >= 100_000 ? 'compact' : 'standard', maximumFractionDigits: 1 })
