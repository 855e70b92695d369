import type { JsonObject } from '#storage/ports.ts'
import type { ResponseItem } from '../input-items.ts'
import type { ResponseDocument } from '../response-document.ts'
import type { ResponseRequest } from '../response-plan.ts'
import type { ResponseInput } from '../stored-responses.ts'

/*
 * What a response keeps in its context, as it was written there: the actor stores plain data, and only this folder
 * makes it.
 */

/** A document as an actor stores it. */
export const storedDocument = (document: ResponseDocument) => document as unknown as JsonObject

/** The document of an actor. */
export const documentOf = (stored: JsonObject) => stored as unknown as ResponseDocument

/** A request as an actor stores it, with the items themselves in place of those that it only names. */
export const storedRequest = (request: ResponseRequest, input: ResponseInput) =>
  ({ ...request, ...(input !== undefined && { input }) }) as unknown as JsonObject

/** The request of an actor. It was validated when it came. */
export const requestOf = (stored: JsonObject) => stored as unknown as ResponseRequest

/** Items as an actor stores them. */
export const storedItems = (items: readonly ResponseItem[]) => items as unknown as readonly JsonObject[]

/** The items of an actor. */
export const itemsOf = (stored: readonly JsonObject[]) => stored as unknown as readonly ResponseItem[]
