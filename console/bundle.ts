import type { Actor } from './actor-facts.ts'

/** An actor as loaded by a page, saved as a file. */
export type Bundle = ReturnType<typeof bundleOf>

/** Maximum size of a bundle file. */
const maxBytes = 64 * 1024 * 1024

/** The name of a saved actor for people: `session paused 2026-11-28 17.57 b93f`. */
export const nameOf = ({ id, machine, active, updated_at }: Actor) =>
  [machine, active.at(-1) ?? '', updated_at.slice(0, 16).replace('T', ' ').replace(':', '.'), id.slice(-4)].join(' ')

const minuteMs = 60_000

/** The steps of the minute before the newest one, and the events since then. */
export const lastMinute = <S extends { at: string }, E extends { created_at: string }>(
  steps: readonly S[],
  log: readonly E[],
) => {
  const from = Date.parse(steps.at(-1)?.at ?? '') - minuteMs
  return {
    steps: steps.filter(({ at }) => Date.parse(at) >= from),
    log: log.filter(({ created_at }) => Date.parse(created_at) >= from),
  }
}

/** Reads a saved bundle. @throws {Error} for every other file */
export const readBundle = async (file: File) => {
  if (file.size > maxBytes) throw new Error('The file is too large to be a bundle.')
  return bundleOf(await file.text())
}

/** Parses a bundle field by field, since the file is untrusted. @throws {Error} when the text is no bundle */
export const bundleOf = (text: string) => {
  const no = new Error('The file is not a bundle saved by this console.')
  let saved: unknown
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

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const textOf = (value: unknown) => (typeof value === 'string' ? value : '')
const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)
const numberOf = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : 0)
/** A valid timestamp; the epoch for any other value. */
const timeOf = (value: unknown) => (Number.isNaN(Date.parse(textOf(value))) ? new Date(0).toISOString() : textOf(value))

/** A list of records. */
const list =
  <T>(parse: (saved: Record<string, unknown>) => T): ((value: unknown) => T[]) =>
  (value) =>
    Array.isArray(value) ? value.filter(isRecord).map(parse) : []

/** A record of exactly these fields, each parsed by its own function. */
const record =
  <F extends Readonly<Record<string, (value: unknown) => unknown>>>(
    fields: F,
  ): ((saved: Record<string, unknown>) => { [N in keyof F]: ReturnType<F[N]> }) =>
  (saved) =>
    Object.fromEntries(Object.entries(fields).map(([name, parse]): readonly unknown[] => [name, parse(saved[name])]))

const reminders = list(record({ name: textOf, due: timeOf }))
const isTrue = (value: unknown) => value === true

const actorOf = record({
  ...{ id: textOf, machine: textOf, version: numberOf, seq: numberOf, last_sequence: numberOf, busy: isTrue },
  active: (value: unknown) => (Array.isArray(value) ? value.map(textOf) : []),
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
    context: (value: unknown) => (isRecord(value) ? value : null),
    events: list(record({ sequence: numberOf, event_type: textOf })),
    effects: list(record({ id: textOf, name: textOf, policy: textOf, params: (value: unknown) => value })),
    messages: list(record({ id: textOf, to: textOf, event: textOf })),
    in_flight: list(record({ id: textOf, name: textOf })),
  }),
)

const eventsOf = list(
  record({
    ...{ sequence: numberOf, event_type: textOf, created_at: timeOf },
    turn_number: (value: unknown) => (typeof value === 'number' ? value : null),
    payload: (value: unknown) => (isRecord(value) ? value : {}),
  }),
)
