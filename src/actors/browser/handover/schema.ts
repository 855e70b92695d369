import type { JsonObject } from '#storage/index.ts'
import type { PageInput } from '../engine/live/input-queue.ts'
import type { PageFrame } from '../engine/live/page-frames.ts'

/*
 * Requests for a page come from `LivePages` of this release, in this process or another one over an authenticated
 * connection.
 */

/** A request of `LivePages` to a page. */
export type LiveQuestion =
  | { readonly kind: 'frame'; readonly viewer: string; readonly after: number }
  | { readonly kind: 'leave'; readonly viewer: string }
  | { readonly kind: 'input'; readonly id: string; readonly inputs: readonly PageInput[] }

/** Returns a request as `LivePages` wrote it. */
export const liveQuestion = (question: JsonObject): LiveQuestion => question as LiveQuestion

/** Returns the response of a page. */
export const frameIn = (answer: JsonObject): { readonly frame: PageFrame | null } =>
  answer as { readonly frame: PageFrame | null }
