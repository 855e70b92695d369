import type { Actor } from './actor-facts.ts'
import { ahead, preciseTime, time } from './format.ts'
import { html } from './html.ts'
import { ActorLink } from './linked-ids.ts'
import { StateChip } from './parts/cells.ts'
import { ownersOf, takeoverText } from './steps-model.ts'

/** Related actors, such as open actions, as links to their charts. */
export const RelatedList = ({ project, actor: { machine, related } }: Props) => {
  const title = machine === 'session' ? 'Open actions' : machine === 'action' ? 'Belongs to' : 'Related'
  return (
    related.length > 0 &&
    html`<section class="box mx-16 mt-12" aria-label=${title}><h2 class="mb-4 text-12 font-semibold">${title}</h2><ul>${related.map(
      ({ id, label, state }) =>
        html`<li key=${id} class="row items-baseline gap-x-10 gap-y-2 wrap-anywhere py-2"><${StateChip} state=${state} /><${ActorLink} project=${project} id=${id} label=${label} /></li>`,
    )}</ul></section>`
  )
}

/** Facts about an actor in addition to its state, and the nodes that ran it, newest first. */
export const ActorFacts = ({ actor, steps }: Props) => {
  const { machine, version, node, seq, last_sequence, in_flight, reminders, created_at, updated_at } = actor
  const facts = {
    Machine: `${machine} v${version}`,
    Node: node ?? 'none',
    Commits: String(seq),
    Events: String(last_sequence),
    'In flight': listed(in_flight.map(({ name, policy }) => `${name} (${policy.replaceAll('_', ' ')})`)),
    Reminders: listed(reminders.map(({ name, due }) => `${shortName(name, actor)} ${ahead(due)}`)),
    Created: time(created_at),
    Updated: time(updated_at),
  }
  const owners = ownersOf(steps)
  return html`
    <dl class="facts">${Object.entries(facts).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
    ${owners.some(({ seq }) => seq > 1) && html`<section class="mt-14 tabular-nums wrap-anywhere" aria-label="Takeovers"><h2 class="mb-4 text-12 font-semibold">Takeovers</h2><ol>${owners.map(ownerItem)}</ol></section>`}
  `
}

const ownerItem = (owner: ReturnType<typeof ownersOf>[number]) => {
  const { node, epoch, since, until, after_crash, seq } = owner
  const from = since === null ? 'an earlier time' : preciseTime(since)
  return html`<li><strong>${node ?? 'a node'}</strong> from ${from} ${until === null ? 'on' : `to ${preciseTime(until)}`}, commit ${seq}, epoch ${epoch} <span class="chip" data-tone=${after_crash ? 'bad' : 'calm'}>${takeoverText(owner)}</span></li>`
}

const listed = (words: readonly string[]) => (words.length === 0 ? 'none' : words.join(', '))

/** Shortens XState's name of a delay, which is `xstate.after.<delay>.<machine>.<state>`. */
const shortName = (name: string, { machine }: Actor) =>
  name.replace(/^xstate\.after\./, '').replace(`.${machine}.`, ' of ')
