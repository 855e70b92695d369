import { eventText } from './chart-model.ts'
import { duration, preciseTime, toneOf } from './format.ts'
import { html, typed, useLayoutEffect, useRef } from './html.ts'

/** Number of frames beside the selected one that are on the page, on each side. */
const aroundFrames = 24

/**
 * Moves through an actor's commits: a film strip with a frame for each, a slider over all of them, and a button back to
 * the newest one.
 */
export const Scrubber = (
  props: Props & {
    /** index of the selected commit; null: the newest, following new ones */
    at: number | null
    go: (index: number | null) => void
    /** whether it is in the document */
    isShown: boolean
  },
) => {
  const { steps, at, go, nameOf, isShown } = props
  const strip = useRef<HTMLElement | null>(null)
  const index = at ?? steps.length - 1
  const step = steps[index]
  useLayoutEffect(() => center(strip.current), [index, isShown])
  if (step === undefined) return null
  const frames = framesOf(steps)
  const found = frames.findIndex((frame) => frame.index >= index)
  const from = Math.max(0, (found < 0 ? frames.length - 1 : found) - aroundFrames)
  const place = `Commit ${step.seq} of ${steps.at(-1)?.seq}`
  return html`<div class="px-16 pt-6 pb-8">
    <div class="flex items-center justify-between gap-x-12 gap-y-4 min-h-32 text-soft tabular-nums">
      <span class="truncate" role="status">${place}${at === null && ', live'}: ${nameOf(step)}, ${preciseTime(step.at)}</span>
      ${at !== null && html`<button type="button" class="quiet" onClick=${() => go(null)}>Back to now</button>`}
    </div>
    <ol class="flex gap-4 px-2 py-3 overflow-x-auto overflow-y-hidden [scrollbar-width:none]" aria-label="Commits" ref=${strip}>
      ${frames.slice(from, from + 2 * aroundFrames + 1).map((frame, near) => html`<${Frame} key=${frame.step.seq} step=${frame.step} before=${frames[from + near - 1]?.step} chosen=${from + near === found} nameOf=${nameOf} go=${() => go(frame.index === steps.length - 1 ? null : frame.index)} />`)}
    </ol>
    <input class="w-full mt-4 mx-0 mb-0 accent-accent" type="range" min="0" max=${steps.length - 1} value=${index} aria-label="Commit" aria-valuetext=${`${place}, ${step.event}`} onInput=${typed((value) => go(Number(value)))} />
  </div>`
}

const Frame = (props: Props & { before: Step | undefined; chosen: boolean; go: () => void }) => {
  const { step, before, chosen, nameOf, go } = props
  const since = before === undefined ? '' : `+${duration(Date.parse(step.at) - Date.parse(before.at))}`
  return html`<li><button type="button" class="grid w-104 px-7 py-4 border-line border-t-3 [border-top-color:var(--tone,var(--edge))] bg-panel text-ink text-11 font-normal leading-[1.4] text-left aria-[current]:bg-accent-soft aria-[current]:shadow-[0_0_0_1.5px_var(--accent)]" tabindex=${chosen ? 0 : -1} aria-current=${chosen ? 'step' : undefined} data-tone=${step.to === null ? '' : toneOf(step.to)} title=${`${nameOf(step)}, ${preciseTime(step.at)}`} onClick=${go}>
    <span class="flex justify-between text-soft tabular-nums truncate">${step.seq}<span class="truncate">${since}</span></span><span class="font-semibold truncate">${eventText(step.event)}</span><span class="min-h-[1.4em] text-soft truncate">${step.to?.split('.').at(-1)}</span>
  </button></li>`
}

/** Scrolls the selected frame into the middle of the strip; the focus moves with it. */
const center = (strip: HTMLElement | null) => {
  const current = strip?.querySelector('[aria-current]')
  if (!strip || !(current instanceof HTMLElement)) return
  if (strip.contains(document.activeElement)) current.focus({ preventScroll: true })
  strip.scrollLeft = current.offsetLeft - strip.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2
}

/** The frames: a commit, and its index; the parts of a stream share the frame of the last of them. */
export const framesOf = (steps: readonly Step[]) =>
  steps
    .map((step, index) => ({ step, index }))
    .filter(
      ({ step, index }) => step.caused_by !== 'part' || step.to !== null || steps[index + 1]?.caused_by !== 'part',
    )
