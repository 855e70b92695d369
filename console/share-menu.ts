import type { Actor } from './actor-facts.ts'
import { lastMinute, nameOf } from './bundle.ts'
import { animationOf } from './chart-animation.ts'
import { download } from './dom.ts'
import { serverNow } from './format.ts'
import { html } from './html.ts'
import { compareHash } from './route.ts'
import { movesOf } from './steps-model.ts'
import { hasTalk } from './talk-panel.ts'

/**
 * What can be done with the history of an actor: compare it with another, and save all that is loaded, its last minute,
 * or that as a moving picture.
 */
export const ShareMenu = ({ project, actor, layout, steps, log }: Props & { log: () => readonly ActorEvent[] }) => {
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

/** Saves the loaded data of an actor as a file, so that another person can view it. */
const downloadBundle = (actor: Actor, content: { steps: readonly Step[]; log: readonly ActorEvent[] }) => {
  const saved = { bundle: 1, id: actor.id, saved_at: serverNow().toISOString(), actor, ...content }
  download(`${nameOf(actor)}.json`, JSON.stringify(saved, null, 1), 'application/json')
}
