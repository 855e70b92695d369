import { Chart } from './chart.ts'
import { h } from './dom.ts'

/** Width of the box, in px, below which a chart is drawn as for a phone. */
const narrowBelow = 560
/** Scales between which a chart can be zoomed, and at most which it is fitted. */
const minScale = 0.4
const maxScale = 4
const maxFit = 1.35
/** Scale at which text of 11.5 px has 11 px. */
const legible = 0.957
const margin = 8

/** A chart that is fitted to its box, and can be zoomed and moved with buttons, the keyboard, the wheel and by dragging. */
export class ChartStage {
  #tools = h('div', { class: 'absolute right-10 bottom-10 z-1 flex gap-4' })
  element = h('div', { class: 'chart-box', tabindex: 0, role: 'group', 'aria-label': 'State chart' }, this.#tools)
  #layout
  #chart
  #narrow = false
  /** Whether the user has requested the whole chart, even if its text is small. */
  #whole = false
  /** What is shown: the scale, and the chart's point in the box's upper left corner. */
  #view: { scale: number; x: number; y: number } | null = null
  #size = { width: 0, height: 0 }
  #watch = new ResizeObserver(() => this.#resized())
  #redrawn

  /** @param redrawn called when another drawing of the chart is shown */
  constructor(layout: Layout, redrawn: (chart: Chart) => void) {
    this.#layout = layout
    this.#redrawn = redrawn
    this.#chart = this.#drawn()
    const buttons = [
      ['+', 'Zoom in', () => this.#zoom(1.25)],
      ['−', 'Zoom out', () => this.#zoom(0.8)],
      ['Fit', 'Fit the chart', () => this.fit()],
    ] as const
    this.#tools.append(
      ...buttons.map(([text, title, click]) =>
        h('button', { type: 'button', class: 'quiet min-w-30 min-h-28', 'aria-label': title, title, click }, text),
      ),
    )
    this.element.append(this.#chart.element)
    this.element.addEventListener('wheel', (event) => this.#onWheel(event), { passive: false })
    this.element.addEventListener('keydown', (event) => this.#onKey(event))
    this.element.addEventListener('pointerdown', (event) => this.#onDrag(event))
    this.#watch.observe(this.element)
  }

  get chart() {
    return this.#chart
  }

  get layout() {
    return this.#layout
  }

  stop() {
    this.#watch.disconnect()
  }

  #drawn() {
    const chart = new Chart(this.#layout, this.#narrow)
    chart.onLight = () => this.#draw()
    return chart
  }

  /** Shows the whole chart, as large as fits. */
  fit() {
    this.#whole = true
    this.#view = null
    this.#draw()
  }

  #resized() {
    const { clientWidth: width, clientHeight: height } = this.element
    this.#size = { width, height }
    const narrow = width < narrowBelow
    if (width > 0 && narrow !== this.#narrow) {
      this.#narrow = narrow
      const before = this.#chart.element
      this.#chart = this.#drawn()
      before.replaceWith(this.#chart.element)
      this.#view = null
      this.#redrawn(this.#chart)
    }
    this.#draw()
  }

  /** The whole chart; on a phone where its text would be too small, the part around the active state. */
  #fitted() {
    const { width, height } = this.#chart.size
    const { width: w, height: h } = this.#size
    const whole = Math.min((w - 2 * margin) / width, (h - 2 * margin) / height, maxFit)
    const scale = this.#narrow && !this.#whole ? Math.max(whole, legible) : whole
    const [x, y] = this.#chart.focus
    return { scale, x: startOf(x, width, w / scale), y: startOf(y, height, h / scale) }
  }

  #draw() {
    const { width, height } = this.#size
    if (width === 0 || height === 0) return
    const { scale, x, y } = this.#view ?? this.#fitted()
    this.#chart.element.setAttribute('viewBox', `${x} ${y} ${width / scale} ${height / scale}`)
    this.element.classList.toggle('moved', this.#view !== null)
    const { width: w, height: h } = this.#chart.size
    this.element.classList.toggle('cut', w * scale > width || h * scale > height)
  }

  /** @param at the point of the box that stays in place */
  #zoom(by: number, at: readonly [x: number, y: number] = [this.#size.width / 2, this.#size.height / 2]) {
    const { scale, x, y } = this.#view ?? this.#fitted()
    const next = Math.min(maxScale, Math.max(minScale, scale * by))
    this.#view = { scale: next, x: x + at[0] / scale - at[0] / next, y: y + at[1] / scale - at[1] / next }
    this.#draw()
  }

  #pan(right: number, down: number) {
    const { scale, x, y } = this.#view ?? this.#fitted()
    this.#view = { scale, x: x + right / scale, y: y + down / scale }
    this.#draw()
  }

  #onWheel(event: WheelEvent) {
    event.preventDefault()
    const box = this.element.getBoundingClientRect()
    this.#zoom(Math.exp(-event.deltaY / 400), [event.clientX - box.left, event.clientY - box.top])
  }

  #onKey(event: KeyboardEvent) {
    const keys: Readonly<Record<string, () => void>> = {
      '+': () => this.#zoom(1.25),
      '=': () => this.#zoom(1.25),
      '-': () => this.#zoom(0.8),
      0: () => this.fit(),
      ArrowLeft: () => this.#pan(-40, 0),
      ArrowRight: () => this.#pan(40, 0),
      ArrowUp: () => this.#pan(0, -40),
      ArrowDown: () => this.#pan(0, 40),
    }
    const act = keys[event.key]
    if (act === undefined || event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    act()
  }

  #onDrag(event: PointerEvent) {
    const isMouse = event.pointerType === 'mouse'
    // a finger scrolls the page, until the chart was zoomed
    if (event.button !== 0 || (!isMouse && !this.element.matches('.moved, .cut'))) return
    if (event.target instanceof Element && event.target.closest('button') !== null) return
    this.element.setPointerCapture(event.pointerId)
    let [x, y] = [event.clientX, event.clientY]
    const move = (to: PointerEvent) => {
      this.#pan(x - to.clientX, y - to.clientY)
      ;[x, y] = [to.clientX, to.clientY]
    }
    const end = () => this.element.removeEventListener('pointermove', move)
    this.element.addEventListener('pointermove', move)
    this.element.addEventListener('pointerup', end, { once: true })
    this.element.addEventListener('pointercancel', end, { once: true })
  }
}

/** Where the visible part of a chart starts: the whole is in the middle, a part has the point in its middle. */
const startOf = (at: number, whole: number, seen: number) =>
  seen >= whole ? (whole - seen) / 2 : Math.min(whole - seen + margin, Math.max(-margin, at - seen / 2))
