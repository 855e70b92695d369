import { time as timeText } from '../format.ts'
import { html, useState } from '../html.ts'

/** `color`: the name of a colour of the style sheets */
type Line = Readonly<{ label: string; values: readonly (number | null)[]; color: string; fill?: boolean }>

/** times in seconds since the epoch */
interface Chart {
  readonly title: string
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  readonly format: (value: number) => string
  readonly choose: (time: number) => void
}

/**
 * Lines over time. A click on a time chooses it. The same figures are in a table, for those who do not see the picture.
 * The drawing is stretched to its box, so places are in percent of it; its lines keep their width.
 */
export const SeriesChart = (chart: Chart) => {
  const { title, times, lines, format, choose } = chart
  const [at, pointAt] = useState(-1)
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  const steps = stepsTo(lines.flatMap(({ values }) => values.map(Number)))
  const x = (seconds: number) => (100 * (seconds - first)) / Math.max(1, last - first)
  const y = (value: number) => 100 - (100 * value) / Math.max(...steps)
  const indexAt = ({ currentTarget, clientX }: MouseEvent) => {
    if (!(currentTarget instanceof Element)) return -1
    const { left, width } = currentTarget.getBoundingClientRect()
    return Math.max(0, Math.min(times.length - 1, Math.round(((clientX - left) / width) * (times.length - 1))))
  }
  const click = (event: MouseEvent) => {
    const time = times[indexAt(event)]
    if (time !== undefined) choose(time)
  }
  const pointed = times[at]
  return html`
    <figure class="series card min-w-0 px-(--inset) pt-12 pb-6">
      <figcaption class="row justify-between gap-x-14"><strong class="font-semibold">${title}</strong><span class="muted text-12">${pointed !== undefined && dateOf(pointed)}</span></figcaption>
      <ul class="row gap-x-14 min-h-22 text-12 text-soft tabular-nums">${lines.map(({ label, color, values }) => html`<li key=${label} class="truncate"><i class="inline-block size-8 mr-6 rounded-full" style=${{ background: `var(--${color})` }}></i>${label} <strong class="text-ink">${pointed !== undefined && shown(values[at], format)}</strong></li>`)}</ul>
      <div class="relative h-150 mt-14 mr-8 mb-26 ml-62 text-11 text-soft tabular-nums cursor-pointer" aria-hidden="true" onPointerMove=${(event: PointerEvent) => pointAt(indexAt(event))} onPointerLeave=${() => pointAt(-1)} onClick=${click}>
        ${steps.map((value) => html`<span class="absolute right-full pr-8 -translate-y-1/2 whitespace-nowrap" style=${{ top: `${y(value)}%` }}>${format(value)}</span>`)}
        ${marksOf(first, last).map((time) => html`<span class="absolute top-full pt-6 -translate-x-1/2 whitespace-nowrap" style=${{ left: `${x(time)}%` }}>${clockOf(time, last - first)}</span>`)}
        <svg class="absolute inset-0 size-full overflow-visible" viewBox="0 0 100 100" preserveAspectRatio="none">
          ${steps.map((value) => html`<path class="stroke-line" d=${`M0 ${y(value)}H100`} />`)}
          ${pointed !== undefined && html`<path class="stroke-edge" d=${`M${x(pointed)} 0V100`} />`}
          ${lines.map(({ label, color, values, fill }) => {
            const points = values.map((value, index) => (value === null ? null : `${x(times[index] ?? 0)} ${y(value)}`))
            const style = { color: `var(--${color})` }
            return html`<g key=${label} style=${style}>${fill && html`<path class="area" d=${`M0 100L${points.filter(Boolean).join('L')}L100 100Z`} />`}<path class="line" d=${pathOf(points)} /><path class="point" d=${dotsOf(points, at)} /></g>`
          })}
        </svg>
      </div>
      <${Figures} ...${chart} />
    </figure>
  `
}

/** A line through points, with gaps where there are none. */
const pathOf = (points: readonly (string | null)[]) =>
  points.map((point, at) => (point === null ? '' : `${points[at - 1] ? 'L' : 'M'}${point}`)).join('')

/** Dots at the point that is pointed at, and at those between gaps. */
const dotsOf = (points: readonly (string | null)[], pointed: number) =>
  points
    .filter((_, at) => at === pointed || !(points[at - 1] || points[at + 1]))
    .map((point) => (point === null ? '' : `M${point}h0`))
    .join('')

/** The values of the axis from 0 up to the greatest, at round distances; whole ones for whole values. */
const stepsTo = (values: readonly number[]) => {
  const max = Math.max(0, ...values)
  const rough = Math.max(max / 3, values.every(Number.isInteger) ? 1 : Number.MIN_VALUE)
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5].find((each) => each * power >= rough) ?? 10)
  return Array.from({ length: Math.max(1, Math.ceil(max / step)) + 1 }, (_, at) => at * step)
}

const dayS = 86_400
const maxMarks = 7

/** The round times of the axis: hours of the user's day, or days. */
const marksOf = (first: number, last: number) => {
  const step = [600, 3600, 4 * 3600, dayS, 7 * dayS].find((each) => (last - first) / each <= maxMarks) ?? 30 * dayS
  const offset = 60 * new Date(first * 1000).getTimezoneOffset()
  const from = Math.ceil((first - offset) / step) * step + offset
  return Array.from({ length: Math.max(0, Math.floor((last - from) / step) + 1) }, (_, at) => from + at * step)
}

/** A time of the axis: the hour of a day, or the day of a longer time, as elsewhere in the console. */
const clockOf = (time: number, whole: number) => {
  const date = new Date(time * 1000)
  return whole > 2 * dayS ? date.toLocaleDateString('en-CA').slice(5) : date.toTimeString().slice(0, 5)
}

const dateOf = (seconds: number) => timeText(new Date(seconds * 1000).toISOString())

const shown = (value: number | null | undefined, format: Chart['format']) => (value == null ? '–' : format(value))

/** The figures of a chart, each time a link to its requests. */
const Figures = ({ title, times, lines, format, choose }: Chart) => {
  const rows = times.map((time, index) => ({ time, values: lines.map(({ values }) => values[index] ?? null) }))
  const used = rows.filter(({ values }) => values.some((value) => value !== null && value !== 0)).toReversed()
  return html`
    <details class="max-h-240 overflow-auto text-12">
      <summary class="py-4 text-soft cursor-pointer">Figures</summary>
      <table class="data" aria-label=${title}>
        <thead><tr><th scope="col">From</th>${lines.map(({ label }) => html`<th scope="col">${label}</th>`)}</tr></thead>
        <tbody>${used.map(({ time, values }) => html`<tr key=${time}><th scope="row"><button type="button" class="quiet" onClick=${() => choose(time)}>${dateOf(time)}</button></th>${values.map((value) => html`<td>${shown(value, format)}</td>`)}</tr>`)}</tbody>
      </table>
    </details>
  `
}
