import { h } from './dom.js'
import { serverNow } from './server-time.js'

/**
 * An actor as loaded by a page, saved as a file.
 *
 * @typedef {object} Bundle
 * @property {string} id
 * @property {string} saved_at
 * @property {import('./actor-facts.js').Actor} actor
 * @property {readonly import('./steps-model.js').Step[]} steps
 * @property {readonly import('./event-log.js').ActorEvent[]} log without gaps
 */

/** Maximum size of a bundle file. */
const maxBytes = 64 * 1024 * 1024

/**
 * Saves the loaded data of an actor as a file, so that another person can view it.
 *
 * @param {import('./actor-facts.js').Actor} actor
 * @param {{ steps: readonly import('./steps-model.js').Step[], log: readonly import('./event-log.js').ActorEvent[] }} content
 */
export const downloadBundle = (actor, content) => {
  const saved = { bundle: 1, id: actor.id, saved_at: serverNow().toISOString(), actor, ...content }
  download(`${nameOf(actor)}.json`, JSON.stringify(saved, null, 1), 'application/json')
}

/** The name of a saved actor for people: `session paused 2026-11-28 17.57 b93f`. @param {import('./actor-facts.js').Actor} actor */
export const nameOf = ({ id, machine, active, updated_at }) =>
  [machine, active.at(-1) ?? '', updated_at.slice(0, 16).replace('T', ' ').replace(':', '.'), id.slice(-4)].join(' ')

const minuteMs = 60_000

/**
 * The steps of the minute before the newest one, and the events since then.
 *
 * @template {{ at: string }} S
 * @template {{ created_at: string }} E
 * @param {readonly S[]} steps
 * @param {readonly E[]} log
 */
export const lastMinute = (steps, log) => {
  const from = Date.parse(steps.at(-1)?.at ?? '') - minuteMs
  return {
    steps: steps.filter(({ at }) => Date.parse(at) >= from),
    log: log.filter(({ created_at }) => Date.parse(created_at) >= from),
  }
}

/** Saves content as a file. @param {string} name @param {string | Blob} content @param {string} type */
export const download = (name, content, type) => {
  const url = URL.createObjectURL(new Blob([content], { type }))
  const link = h('a', { href: url, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}

/** Reads a saved bundle. @param {File} file @returns {Promise<Bundle>} @throws {Error} for every other file */
export const readBundle = async (file) => {
  if (file.size > maxBytes) throw new Error('The file is too large to be a bundle.')
  return bundleOf(await file.text())
}

/**
 * Parses a bundle field by field, since the file is untrusted.
 *
 * @param {string} text
 * @returns {Bundle}
 * @throws {Error} when the text is no bundle
 */
export const bundleOf = (text) => {
  const no = new Error('The file is not a bundle saved by this console.')
  /** @type {unknown} */
  let saved
  try {
    saved = JSON.parse(text)
  } catch (cause) {
    throw new Error(no.message, { cause })
  }
  if (!isRecord(saved) || saved.bundle !== 1 || !isRecord(saved.actor)) throw no
  const actor = actorOf(saved.actor)
  if (!/^[a-z_]{1,64}$/.test(actor.machine)) throw no
  const steps = listOf(saved.steps).map(stepOf)
  const log = listOf(saved.log).map(eventOf)
  return {
    id: actor.id,
    saved_at: textOf(saved.saved_at),
    actor,
    steps: ordered(steps, 'seq'),
    log: ordered(log, 'sequence'),
  }
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
/** @param {unknown} value */
const textOf = (value) => (typeof value === 'string' ? value : '')
/** @param {unknown} value */
const textOrNull = (value) => (typeof value === 'string' ? value : null)
/** @param {unknown} value */
const numberOf = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : 0)
/** @param {unknown} value @returns {readonly Record<string, unknown>[]} */
const listOf = (value) => (Array.isArray(value) ? value.filter(isRecord) : [])
/** A valid timestamp; the epoch for any other value. @param {unknown} value */
const timeOf = (value) => (Number.isNaN(Date.parse(textOf(value))) ? new Date(0).toISOString() : textOf(value))

/**
 * @template T
 * @param {T[]} items
 * @param {keyof T} by
 */
const ordered = (items, by) => items.sort((a, b) => Number(a[by]) - Number(b[by]))

/** @param {Record<string, unknown>} saved @returns {import('./actor-facts.js').Actor} */
const actorOf = (saved) => ({
  id: textOf(saved.id),
  machine: textOf(saved.machine),
  version: numberOf(saved.version),
  active: Array.isArray(saved.active) ? saved.active.map(textOf) : [],
  seq: numberOf(saved.seq),
  last_sequence: numberOf(saved.last_sequence),
  busy: saved.busy === true,
  node: textOrNull(saved.node),
  parked: textOrNull(saved.parked),
  in_flight: listOf(saved.in_flight).map(({ id, name, policy, started, about, since, deadline }) => ({
    ...{ id: textOf(id), name: textOf(name), policy: textOf(policy), about: textOrNull(about) },
    ...{ since: textOrNull(since), deadline: textOrNull(deadline) },
    started: started === true,
  })),
  reminders: remindersOf(saved.reminders),
  related: listOf(saved.related).map(({ id, machine, state, label }) => ({
    ...{ id: textOf(id), machine: textOf(machine), state: textOf(state) },
    label: textOrNull(label),
  })),
  created_at: timeOf(saved.created_at),
  updated_at: timeOf(saved.updated_at),
})

/** @param {unknown} value */
const remindersOf = (value) => listOf(value).map(({ name, due }) => ({ name: textOf(name), due: timeOf(due) }))

/** @param {Record<string, unknown>} saved @returns {import('./steps-model.js').Step} */
const stepOf = (saved) => ({
  seq: numberOf(saved.seq),
  at: timeOf(saved.at),
  version: textOf(saved.version),
  cause: textOf(saved.cause),
  caused_by: textOf(saved.caused_by),
  event: textOf(saved.event),
  from: textOrNull(saved.from),
  to: textOrNull(saved.to),
  context: isRecord(saved.context) ? saved.context : null,
  events: listOf(saved.events).map(({ sequence, event_type }) => ({
    sequence: numberOf(sequence),
    event_type: textOf(event_type),
  })),
  effects: listOf(saved.effects).map(({ id, name, policy, params }) => ({
    ...{ id: textOf(id), name: textOf(name), policy: textOf(policy) },
    params,
  })),
  messages: listOf(saved.messages).map(({ id, to, event }) => ({
    id: textOf(id),
    to: textOf(to),
    event: textOf(event),
  })),
  reminders: remindersOf(saved.reminders),
  in_flight: listOf(saved.in_flight).map(({ id, name }) => ({ id: textOf(id), name: textOf(name) })),
})

/** @param {Record<string, unknown>} saved @returns {import('./event-log.js').ActorEvent} */
const eventOf = (saved) => ({
  sequence: numberOf(saved.sequence),
  event_type: textOf(saved.event_type),
  turn_number: typeof saved.turn_number === 'number' ? saved.turn_number : null,
  payload: isRecord(saved.payload) ? saved.payload : {},
  created_at: timeOf(saved.created_at),
})
