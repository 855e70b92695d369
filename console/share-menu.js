import { download, downloadBundle, lastMinute, nameOf } from './bundle.js'
import { animationOf } from './chart-animation.js'
import { html } from './html.js'
import { compareHash } from './route.js'
import { movesOf } from './steps-model.js'
import { hasTalk } from './talk-panel.js'

/**
 * What can be done with the history of an actor: compare it with another, and save all that is loaded, its last minute,
 * or that as a moving picture.
 *
 * @param {{ project: string, actor: import('./actor-facts.js').Actor, layout: Layout, steps: readonly Step[], log: () => readonly ActorEvent[] }} props
 */
export const ShareMenu = ({ project, actor, layout, steps, log }) => {
  const picture = () => {
    const moves = movesOf(lastMinute(steps, []).steps)
    download(`${nameOf(actor)}.svg`, animationOf(layout, moves, nameOf(actor)), 'image/svg+xml')
  }
  const saves = {
    'Save bundle': () => downloadBundle(actor, { steps, log: log() }),
    'Last minute': () => downloadBundle(actor, lastMinute(steps, log())),
    'Moving picture': picture,
  }
  return html`<span class="decide">${hasTalk(actor) && html`<a class="button quiet" href=${compareHash(project, [actor.id])}>Compare</a>`}
    <details class="menu"><summary class="button quiet">Save</summary><div class="menu-box">${Object.entries(saves).map(([name, save]) => html`<button type="button" class="quiet" onClick=${save}>${name}</button>`)}</div></details></span>`
}
