import type { StoredEvent } from '#storage/ports.ts'
import { isEvent } from '../schema.ts'
import type { Draft } from '../step/step.ts'

/** Levels of nesting that a value may have: a walk through it needs a stack. */
const maxLevels = 500

/**
 * Checks that JSON can express a value: in memory another one would differ from what is stored, and change or vanish
 * when the actor is loaded. Fields that are undefined are left out, as JSON does.
 *
 * @param path name of the value in the error
 * @throws {TypeError}
 */
export const checkPlain = (value: unknown, path: string, levels = maxLevels): void => {
  const what = strangeness(value)
  if (what !== undefined) throw new TypeError(`${path} is ${what}, which cannot be stored as JSON`)
  if (typeof value !== 'object' || value === null) return
  if (levels === 0) throw new TypeError(`${path} is nested too deeply`)
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      if (each === undefined) throw new TypeError(`${path}[${index}] is undefined, which cannot be stored as JSON`)
      checkPlain(each, `${path}[${index}]`, levels - 1)
    }
    return
  }
  for (const [name, each] of Object.entries(value)) {
    if (each !== undefined) checkPlain(each, `${path}.${name}`, levels - 1)
  }
}

/** What a value is that JSON would change or refuse; undefined for others. */
const strangeness = (value: unknown): string | undefined => {
  switch (typeof value) {
    case 'bigint':
    case 'function':
    case 'symbol':
      return `a ${typeof value}`
    case 'number':
      return Number.isFinite(value) ? undefined : String(value)
    case 'object':
      return value === null || Array.isArray(value) ? undefined : classOf(value)
    default:
      return undefined
  }
}

/** Name of an object's class; undefined for a plain object, also one of another realm. */
const classOf = (value: object): string | undefined => {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (typeof prototype !== 'object' || prototype === null || Object.getPrototypeOf(prototype) === null) return undefined
  return `of the class ${value.constructor.name}`
}

/**
 * Checks an event of the application, and returns a copy: what is kept of it cannot be changed from outside.
 *
 * @throws {TypeError} for other values, and for the types of XState's and the runtime's own events.
 */
export const checkedEvent = (event: unknown): StoredEvent => {
  if (!isEvent(event)) throw new TypeError('an event is an object with a type')
  if (/^(\$|xstate\.)/.test(event.type)) throw new TypeError(`events of the type ${event.type} are the runtime's own`)
  checkPlain(event, 'event')
  return structuredClone(event)
}

/** Checks what a step of a machine stores and sends. @throws {TypeError} */
export const checkDraft = ({ snapshot, effects, messages, events, reminders }: Draft): void => {
  checkPlain(snapshot.context, 'context')
  if (snapshot.output !== undefined) checkPlain(snapshot.output, 'output')
  for (const { name, params } of effects) checkPlain(params ?? {}, `${name}.params`)
  for (const { event } of messages) checkedEvent(event)
  for (const { event_type, payload } of events) checkPlain(payload, `${event_type}.payload`)
  for (const [name, { event }] of Object.entries(reminders)) checkPlain(event, name)
}
