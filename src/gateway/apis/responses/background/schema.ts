import type { JsonObject } from '#storage/index.ts'
import type { ResponseItem } from '../input-items.ts'
import type { ResponseDocument } from '../response-document.ts'
import type { ResponseRequest } from '../response-plan.ts'
import type { ResponseInput } from '../stored-responses.ts'

/*
 * Conversions between the types of the Responses API and the plain JSON in an actor's context. The casts are safe
 * because only this folder writes that data.
 */

/** Converts a document to the JSON that an actor stores. */
export const storedDocument = (document: ResponseDocument) => document as unknown as JsonObject

/** Returns the document that an actor has stored. */
export const documentOf = (stored: JsonObject) => stored as unknown as ResponseDocument

/** Converts a request to the JSON that an actor stores, with item references resolved. */
export const storedRequest = (request: ResponseRequest, input: ResponseInput) =>
  ({ ...request, ...(input !== undefined && { input }) }) as unknown as JsonObject

/** Returns the request that an actor has stored. It was validated on arrival. */
export const requestOf = (stored: JsonObject) => stored as unknown as ResponseRequest

/** Converts items to the JSON that an actor stores. */
export const storedItems = (items: readonly ResponseItem[]) => items as unknown as readonly JsonObject[]

/** Returns the items that an actor has stored. */
export const itemsOf = (stored: readonly JsonObject[]) => stored as unknown as readonly ResponseItem[]
