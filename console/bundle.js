import { h } from './dom.js'
import { serverNow } from './format.js'

/**
 * An actor as loaded by a page, saved as a file.
 *
 * @typedef {object} Bundle
 * @property {string} id
 * @property {string} saved_at
 * @property {import('./actor-facts.js').Actor} actor
 * @property {readonly Step[]} steps
 * @property {readonly ActorEvent[]} log without gaps
 */

/** Maximum size of a bundle file. */
const maxBytes = 64 * 1024 * 1024

/**
 * Saves the loaded data of an actor as a file, so that another person can view it.
 *
 * @param {import('./actor-facts.js').Actor} actor
 * @param {{ steps: readonly Step[], log: readonly ActorEvent[] }} content
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

/** Parses a bundle field by field, since the file is untrusted. @param {string} text @returns {Bundle} @throws {Error} when the text is no bundle */
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
  return {
    ...{ id: actor.id, saved_at: textOf(saved.saved_at), actor },
    steps: stepsOf(saved.steps).sort((a, b) => a.seq - b.seq),
    log: eventsOf(saved.log).sort((a, b) => a.sequence - b.sequence),
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
/** A valid timestamp; the epoch for any other value. @param {unknown} value */
const timeOf = (value) => (Number.isNaN(Date.parse(textOf(value))) ? new Date(0).toISOString() : textOf(value))

/** A list of records. @template T @param {(saved: Record<string, unknown>) => T} parse @returns {(value: unknown) => T[]} */
const list = (parse) => (value) => (Array.isArray(value) ? value.filter(isRecord).map(parse) : [])

/**
 * A record of exactly these fields, each parsed by its own function.
 *
 * @template {Readonly<Record<string, (value: unknown) => unknown>>} F
 * @param {F} fields
 * @returns {(saved: Record<string, unknown>) => { [N in keyof F]: ReturnType<F[N]> }}
 */
const record = (fields) => (saved) =>
  /** @type {any} */ (Object.fromEntries(Object.entries(fields).map(([name, parse]) => [name, parse(saved[name])])))

const reminders = list(record({ name: textOf, due: timeOf }))
const isTrue = (/** @type {unknown} */ value) => value === true

const actorOf = record({
  ...{ id: textOf, machine: textOf, version: numberOf, seq: numberOf, last_sequence: numberOf, busy: isTrue },
  active: (/** @type {unknown} */ value) => (Array.isArray(value) ? value.map(textOf) : []),
  in_flight: list(
    record({
      ...{ id: textOf, name: textOf, policy: textOf, started: isTrue },
      ...{ about: textOrNull, since: textOrNull, deadline: textOrNull },
    }),
  ),
  related: list(record({ id: textOf, machine: textOf, state: textOf, label: textOrNull })),
  ...{ node: textOrNull, parked: textOrNull, reminders, created_at: timeOf, updated_at: timeOf },
})

const stepsOf = list(
  record({
    ...{ seq: numberOf, at: timeOf, version: textOf, cause: textOf, caused_by: textOf, event: textOf },
    ...{ from: textOrNull, to: textOrNull, reminders },
    context: (/** @type {unknown} */ value) => (isRecord(value) ? value : null),
    events: list(record({ sequence: numberOf, event_type: textOf })),
    effects: list(
      record({ id: textOf, name: textOf, policy: textOf, params: (/** @type {unknown} */ value) => value }),
    ),
    messages: list(record({ id: textOf, to: textOf, event: textOf })),
    in_flight: list(record({ id: textOf, name: textOf })),
  }),
)

const eventsOf = list(
  record({
    ...{ sequence: numberOf, event_type: textOf, created_at: timeOf },
    turn_number: (/** @type {unknown} */ value) => (typeof value === 'number' ? value : null),
    payload: (/** @type {unknown} */ value) => (isRecord(value) ? value : {}),
  }),
)
