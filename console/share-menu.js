import { download, downloadBundle, lastMinute, nameOf } from './bundle.js'
import { animationOf } from './chart-animation.js'
import { h } from './dom.js'
import { html, render } from './html.js'
import { compareHash } from './route.js'
import { movesOf } from './steps-model.js'
import { hasTalk } from './talk-panel.js'

/**
 * What can be done with the history of an actor: compare it with another, and save all that is loaded, its last minute,
 * or that as a moving picture.
 *
 * @param {string} project
 * @param {() => { actor: import('./actor-facts.js').Actor, layout: Layout, steps: readonly Step[], log: readonly ActorEvent[] }} now what is loaded
 */
export const shareMenu = (project, now) => {
  const { actor, layout } = now()
  const picture = () => {
    const moves = movesOf(lastMinute(now().steps, []).steps)
    download(`${nameOf(now().actor)}.svg`, animationOf(layout, moves, nameOf(now().actor)), 'image/svg+xml')
  }
  const saves = {
    'Save bundle': () => downloadBundle(now().actor, { steps: now().steps, log: now().log }),
    'Last minute': () => downloadBundle(now().actor, lastMinute(now().steps, now().log)),
    'Moving picture': picture,
  }
  const box = h('span', { class: 'decide' })
  render(
    html`${hasTalk(actor) && html`<a class="button quiet" href=${compareHash(project, [actor.id])}>Compare</a>`}
      <details class="menu"><summary>Save</summary><div class="menu-box">${Object.entries(saves).map(([name, save]) => html`<button type="button" class="quiet" onClick=${save}>${name}</button>`)}</div></details>`,
    box,
  )
  return box
}
