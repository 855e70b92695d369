import type { JsonObject } from '#storage/ports.ts'
import type { PageInput } from '../engine/live/input-queue.ts'
import type { PageFrame } from '../engine/live/page-frames.ts'

/*
 * Questions about a page come from `LivePages` of this release or, over an authenticated connection, of another process of it.
 */

/** What `LivePages` wants of a page. */
export type LiveQuestion =
  | { readonly kind: 'frame'; readonly after: number }
  | { readonly kind: 'input'; readonly id: string; readonly inputs: readonly PageInput[] }

/** A question as `LivePages` wrote it. */
export const liveQuestion = (question: JsonObject): LiveQuestion => question as LiveQuestion

/** An answer as a page gave it. */
export const saidFrame = (said: JsonObject): { readonly frame: PageFrame | null } =>
  said as { readonly frame: PageFrame | null }
