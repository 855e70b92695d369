import { download, downloadBundle, lastMinute, nameOf } from './bundle.js'
import { animationOf } from './chart-animation.js'
import { h } from './dom.js'
import { compareHash } from './route.js'
import { movesOf } from './steps-model.js'
import { hasTalk } from './talk-panel.js'

/**
 * What can be done with the history of an actor: compare it with another, and save all that is loaded, its last minute,
 * or that as a moving picture.
 *
 * @param {string} project
 * @param {() => { actor: import('./actor-facts.js').Actor, layout: import('./chart-model.js').Layout, steps: readonly import('./steps-model.js').Step[], log: readonly import('./event-log.js').ActorEvent[] }} now what is loaded
 */
export const shareMenu = (project, now) => {
  const save = (/** @type {string} */ name, /** @type {() => void} */ click) =>
    h('button', { type: 'button', class: 'quiet', click }, name)
  const picture = () => {
    const { actor, layout, steps } = now()
    const moves = movesOf(lastMinute(steps, []).steps)
    download(`${nameOf(actor)}.svg`, animationOf(layout, moves, nameOf(actor)), 'image/svg+xml')
  }
  return h(
    'span',
    { class: 'decide' },
    hasTalk(now().actor)
      ? h('a', { class: 'button quiet', href: compareHash(project, [now().actor.id]) }, 'Compare')
      : null,
    save('Save bundle', () => downloadBundle(now().actor, { steps: now().steps, log: now().log })),
    save('Last minute', () => downloadBundle(now().actor, lastMinute(now().steps, now().log))),
    save('Moving picture', picture),
  )
}
