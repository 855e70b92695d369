import type { Route } from '#gateway/call/routes.ts'
import type { DocumentTarget } from './document-target.ts'

/** An image to edit, whose type was found by its bytes. */
export interface GivenImage {
  readonly bytes: Uint8Array
  readonly mimeType: string
}

/** The images of an edit. */
export interface GivenImages {
  readonly images: readonly GivenImage[]
  readonly mask: GivenImage | null
}

/**
 * How images are requested of a provider by a document in OpenAI's form: edits of `given`, or for null generated ones.
 *
 * @returns null for what the provider does not offer.
 * @throws {ServiceError} `invalid_field` for what its API cannot express.
 */
export type ImageFormat = (route: Route, given: GivenImages | null) => DocumentTarget | null
