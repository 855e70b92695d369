import { actorPrefixes } from './actor-ids.ts'
import { html } from './html.ts'
import { titleOf } from './names.ts'
import { routeHash } from './route.ts'

const anId = new RegExp(`\\b((?:${Object.keys(actorPrefixes).join('|')})_[0-9a-z]{26})\\b`)

/** Whether an id is that of an actor, which has a page. */
export const isActorId = (id: string) => anId.test(id)

/** Splits a text; every second part is the id of an actor. */
const partsOf = (text: string) => text.split(anId)

/**
 * An actor by what it is about, as a link with its id: it is shown on hover, and copied when nothing else is selected
 * (`app.ts`).
 *
 * @param props `label`: what it is about, where that is known
 */
export const ActorLink = ({ project, id, label = null }: { project: string; id: string; label?: string | null }) =>
  html`<a class="named" href=${routeHash({ view: 'actor', project, id })} title=${id} data-id=${id}>${titleOf(id, label)}</a>`

/** A text with actors by their names, as links. */
export const linked = (project: string, text: string) =>
  partsOf(text).map((part, index) => (index % 2 === 0 ? part : html`<${ActorLink} project=${project} id=${part} />`))

/**
 * A text with the ids of actors as links, which are no tab stops until their list makes them so, since a log has
 * thousands.
 */
export const linkedIds = (project: string, text: string) =>
  partsOf(text).map((part, index) =>
    index % 2 === 0 ? part : html`<a href=${routeHash({ view: 'actor', project, id: part })} tabindex="-1">${part}</a>`,
  )
