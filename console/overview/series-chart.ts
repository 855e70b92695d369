import { html, useEffect, useRef } from '../html.ts'
import uPlot from '../vendor/uplot.js'

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

const height = 172

// a canvas takes colours, not the expressions of them that the style sheets have
for (const name of ['soft', 'line', 'accent', 'work', 'wait', 'bad', 'calm'])
  CSS.registerProperty({ name: `--${name}`, syntax: '<color>', inherits: true, initialValue: 'transparent' })

/**
 * Lines over time. A click on a time chooses it. The same figures are in a table, for those who do not see the picture.
 */
export const SeriesChart = (chart: Chart) => {
  const box = useRef<HTMLElement | null>(null)
  const plot = useRef<uPlot | null>(null)
  const newest = useRef(chart)
  newest.current = chart
  const shape = chart.lines.map(({ label }) => label).join()
  useEffect(() => {
    const { current: element } = box
    if (element === null) return
    const drawn = new uPlot(optionsOf(element, newest), dataOf(newest.current), element)
    plot.current = drawn
    const watch = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height }))
    watch.observe(element)
    return () => {
      watch.disconnect()
      drawn.destroy()
    }
  }, [shape])
  const data = JSON.stringify(dataOf(chart))
  useEffect(() => plot.current?.setData(dataOf(newest.current)), [data])
  return html`
    <figure class="series card min-w-0 px-(--inset) pt-12 pb-6">
      <figcaption class="font-semibold">${chart.title}</figcaption>
      <div ref=${box} class="series-plot min-h-198 cursor-pointer" aria-hidden="true"></div>
      <${Figures} ...${chart} />
    </figure>
  `
}

/** The figures of a chart, each time a link to its requests. */
const Figures = ({ title, times, lines, format, choose }: Chart) => {
  const rows = times.map((time, index) => ({ time, values: lines.map(({ values }) => values[index] ?? null) }))
  const used = rows.filter(({ values }) => values.some((value) => value !== null && value !== 0)).toReversed()
  return html`
    <details class="max-h-240 overflow-auto text-12">
      <summary class="py-4 text-soft cursor-pointer">Figures</summary>
      <table class="data" aria-label=${title}>
        <thead><tr><th scope="col">From</th>${lines.map(({ label }) => html`<th scope="col">${label}</th>`)}</tr></thead>
        <tbody>${used.map(({ time, values }) => html`<tr key=${time}><th scope="row"><button type="button" class="quiet" onClick=${() => choose(time)}>${new Date(time * 1000).toLocaleString()}</button></th>${values.map((value) => html`<td>${value === null ? '–' : format(value)}</td>`)}</tr>`)}</tbody>
      </table>
    </details>
  `
}

const dataOf = ({ times, lines }: Chart): any => [times, ...lines.map(({ values }) => values)]

const dayS = 86_400

/** The hours of a day, or the days of a longer time, as elsewhere in the console. */
const timesOf = (ticks: readonly number[]) => {
  const isLong = (ticks[1] ?? 0) - (ticks[0] ?? 0) >= dayS
  return ticks.map((tick) => {
    const date = new Date(tick * 1000)
    return isLong ? date.toLocaleDateString('en-CA').slice(5) : date.toTimeString().slice(0, 5)
  })
}

const optionsOf = (element: HTMLElement, chart: { current: Chart }): any => {
  // read when drawn, since the theme may change, and of the document: the element may not be in it yet
  const color = (name: string) => () => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
  const format = (value: number | null) => (value === null ? '–' : chart.current.format(value))
  const axis = {
    stroke: color('soft'),
    font: '11px system-ui',
    grid: { stroke: color('line'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: element.clientWidth,
    height,
    cursor: { y: false, points: { size: 6 } },
    legend: { live: true },
    scales: {
      y: {
        range: (_: unknown, __: number, max: number) => [0, max > 0 ? max * 1.1 : 1],
      },
    },
    axes: [
      {
        ...axis,
        size: 28,
        space: 64,
        values: (_: unknown, ticks: number[]) => timesOf(ticks),
      },
      { ...axis, size: 62, values: (_: unknown, ticks: number[]) => ticks.map(format) },
    ],
    series: [
      {},
      ...chart.current.lines.map(({ label, color: name, fill }) => ({
        label,
        stroke: color(name),
        width: 1.8,
        // a value between gaps has no line
        points: { show: chart.current.lines.some(({ values }) => values.includes(null)), size: 5 },
        value: (_: unknown, value: number | null) => format(value),
        ...(fill && { fill: () => `color-mix(in srgb, ${color(name)()} 13.3%, transparent)` }),
      })),
    ],
    hooks: {
      ready: [
        (plot: any) =>
          plot.over.addEventListener('click', () => {
            const time = chart.current.times[plot.cursor.idx ?? -1]
            if (time !== undefined) chart.current.choose(time)
          }),
      ],
    },
  }
}
