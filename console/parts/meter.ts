import { html } from '../html.ts'

/** The used share of a whole, as a bar with a text. @param props `held`: amount reserved in addition to `part` */
export const Meter = (props: Props & { part: number; whole: number; held?: number }) => {
  const { label, part, whole, text, held = 0 } = props
  const share = whole <= 0 ? 1 : Math.min(1, part / whole)
  const tone = share >= 1 ? 'bad' : share >= 0.8 ? 'wait' : 'work'
  const width = `${(100 * share).toFixed(1)}%`
  const heldWidth = `${(100 * Math.min(1 - share, whole <= 0 ? 0 : held / whole)).toFixed(1)}%`
  return html`
    <div class="grid grid-cols-[minmax(80px,180px)_1fr] items-center gap-10" role="meter" aria-label=${label} aria-valuemin="0" aria-valuemax=${whole} aria-valuenow=${Math.min(part, whole)} aria-valuetext=${text}>
      <div class="flex h-8 rounded-4 bg-work-soft overflow-hidden"><div class="bg-(--tone)" data-tone=${tone} style=${{ width }}></div><div class="bg-edge" style=${{ width: heldWidth }}></div></div>
      <span>${text}</span>
    </div>
  `
}
