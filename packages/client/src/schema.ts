import type { SessionEvent } from './events.ts'
import type { Snapshot } from './messages.ts'
import type { Page } from './page.ts'

/** What a page has and a server has not, seen as optional. */
export const asPage = (globals: unknown) => globals as Page

/** An event of the log, whose name and data agree because one server wrote both. */
export const asEvent = (event: string, id: number, data: unknown) => ({ event, id, data }) as SessionEvent

/** A document that the server answered, whose type the declaration of its operation gives. */
export const asAnswer = <T>(document: unknown) => document as T

/** An object of a body that may be of another server. */
export const asFields = (value: unknown) => Object(value) as Readonly<Record<string, unknown>>

/** Arguments of a function, which the model was given the schema of. */
export const asNever = (value: unknown) => value as never

/** The messages that a stream begins with; null for any other event. */
export const snapshotIn = ({ event, data }: { readonly event: string; readonly data: unknown }): Snapshot | null =>
  event === 'session.snapshot' ? (data as Snapshot) : null
