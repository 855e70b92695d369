import type { SessionEvent } from './events.ts'
import type { Snapshot } from './messages.ts'

/** An object whose type a declaration gives; by default one of which nothing is known, since it may be of another server. */
export const asFields = <T = Readonly<Record<string, unknown>>>(value: unknown) => Object(value) as T

/** Arguments of a function, which the model was given the schema of. */
export const asNever = (value: unknown) => value as never

/** The messages that a stream begins with; null for any other event. */
export const snapshotIn = ({
  event,
  data,
}: Pick<SessionEvent, 'data'> & { readonly event: string }): Snapshot | null =>
  event === 'session.snapshot' ? asFields(data) : null
