import { callApi } from './api.ts'
import { duration, serverNow } from './format.ts'
import { html } from './html.ts'
import { useRead } from './parts/use-read.ts'
import { routeHash } from './route.ts'
import { childrenOf, effectSpans, queueSpans } from './steps-model.ts'

/** the time that a waterfall shows, in ms */
type Scale = Readonly<{ from: number; whole: number; now: number }>

type Bar = Made<typeof barsOf>[number]

/** Maximum nesting of child actors. */
const maxLevels = 4
const maxSteps = 200

/**
 * Durations as bars: of each effect until its first part and until its end, and of the actor's time in a queue. Actors
 * that it has started are nested with their own bars.
 */
export const WaterfallPanel = ({ project, steps, live }: Props & { live: boolean }) => {
  const bars = barsOf(project, steps)
  if (bars.length === 0) return html`<p class="empty">No effects yet.</p>`
  const now = serverNow().getTime()
  const from = Math.min(...bars.map(({ startedAt }) => startedAt))
  const to = Math.max(...bars.map(({ endedAt }) => endedAt ?? (live ? now : from)))
  const scale = { from, whole: Math.max(1, to - from), now: live ? now : to }
  return html`<${Bars} project=${project} bars=${bars} scale=${scale} levels=${live ? maxLevels : 0} />`
}

const barsOf = (project: string, steps: readonly Step[]) => {
  const effects = effectSpans(steps).map(({ id, name, startedAt, endedAt, firstPartAt, outcome }) => ({
    ...{ id, title: name, href: '', startedAt, endedAt, firstPartAt, outcome },
  }))
  const queue = queueSpans(steps).map(({ startedAt, endedAt }) => ({
    ...{ id: `queue-${startedAt}`, title: 'queue', href: '', startedAt, endedAt, firstPartAt: null },
    outcome: endedAt === null ? null : 'begun',
  }))
  const children = childrenOf(steps).map((child) => ({
    ...{ ...child, title: child.id, firstPartAt: null },
    href: routeHash({ view: 'actor', project, id: child.id }),
  }))
  return [...queue, ...effects, ...children].sort((a, b) => a.startedAt - b.startedAt)
}

const Bars = ({ project, bars, scale, levels }: Props & { bars: readonly Bar[]; scale: Scale; levels: number }) => html`
  <ol class="waterfall">
    ${bars.map((bar) => html`<${BarRow} key=${bar.id} project=${project} bar=${bar} scale=${scale} levels=${levels} />`)}
  </ol>
`

const BarRow = ({ project, bar, scale, levels }: Props & { bar: Bar; scale: Scale; levels: number }) => {
  const { title, href, startedAt, endedAt, firstPartAt, outcome, id } = bar
  const end = endedAt ?? scale.now
  const first = firstPartAt ?? end
  const percent = (ms: number) => `${Math.min(100, Math.max(0, (100 * ms) / scale.whole))}%`
  return html`
    <li class="grid grid-cols-[auto_1fr] gap-x-10 px-(--inset) py-7 border-b border-line">
      <span class="name font-semibold">${href === '' ? title : html`<a href=${href}>${title}</a>`}</span>
      <span class="muted">${duration(end - startedAt)}${firstPartAt === null ? '' : `, first after ${duration(first - startedAt)}`} ${outcome ?? 'in progress'}</span>
      <div class="bar-line col-span-full h-10 bg-page"><div class="bar min-w-2 h-10 bg-work data-open:bg-wait" data-open=${endedAt === null ? 'true' : undefined} style=${{ marginLeft: percent(startedAt - scale.from), width: percent(end - startedAt) }}><div class="h-10 bg-[rgb(128_128_128/55%)]" style=${{ width: `${(100 * (first - startedAt)) / Math.max(1, end - startedAt)}%` }}></div></div></div>
      ${href !== '' && levels > 0 && html`<${Child} project=${project} id=${id} ended=${endedAt !== null} scale=${scale} levels=${levels - 1} />`}
    </li>
  `
}

/** The bars of a child actor, on the scale of its parent. */
const Child = ({ project, id, ended, scale, levels }: Props & { ended: boolean; scale: Scale; levels: number }) => {
  // a deleted actor has no history
  const { data } = useRead(
    `${id} ${ended}`,
    () => callApi(project, 'observation.steps', { params: { actor_id: id }, query: { limit: maxSteps } }),
    { keep: true },
  )
  const bars = barsOf(project, data?.data ?? [])
  if (bars.length === 0) return null
  return html`<div class="col-span-full mt-4 ml-14 border-l-2 border-line"><${Bars} project=${project} bars=${bars} scale=${scale} levels=${levels} /></div>`
}
